/* Declarations shared by the sources for CLML. */
#ifndef CLOPT_CLML_INTERNAL_H
#define CLOPT_CLML_INTERNAL_H

#include "clopt_clml.h"
#include "clopt_internal.h"

/* clopt_clml_interface.c */

/* The functions of CLML, in a table whose type depends on the version. */
typedef struct clopt_clml_interface {
    int major, minor;
    void *table;
    const char *(CL_API_CALL *explain)(void); /* of the reference library, or NULL */
} clopt_clml_interface;

/* Finds the newest version from `oldest` to `newest` (0: no limit) that both header and device
 * support. */
clopt_status clopt_clml_find(clopt_model *model, int oldest, int newest,
                             clopt_clml_interface *clml);

/* Does the same as clopt_fail_opencl, and adds the reference library's explanation. */
clopt_status clopt_clml_fail(clopt_model *model, const clopt_clml_interface *clml,
                             const char *call, const char *what, cl_int error);

/* Calls a member of the table: CLOPT_CLML_CALL(clml, clReleaseMLOpQCOM(op)). The header declares
 * the tables of its own version and of all earlier ones. Calls of members that a version lacks
 * return an error in that version. */
#define CLOPT_CLML_VERSION(number, clml, call) \
    (((CLMLInterfaceV##number##QCOM *)(clml)->table)->call)

#if CLOPT_CLML_NEWEST >= 5
#define CLOPT_CLML_FROM_5(clml, call) CLOPT_CLML_VERSION(5, clml, call)
#else
#define CLOPT_CLML_FROM_5(clml, call) CL_INVALID_OPERATION
#endif

#if CLOPT_CLML_NEWEST >= 4
#define CLOPT_CLML_FROM_4(clml, call) \
    ((clml)->major == 4 ? CLOPT_CLML_VERSION(4, clml, call) : CLOPT_CLML_FROM_5(clml, call))
#else
#define CLOPT_CLML_FROM_4(clml, call) CL_INVALID_OPERATION
#endif

#if CLOPT_CLML_NEWEST >= 3
#define CLOPT_CLML_IN_3(clml, call, otherwise) \
    ((clml)->major == 3 ? CLOPT_CLML_VERSION(3, clml, call) : otherwise)
#else
#define CLOPT_CLML_IN_3(clml, call, otherwise) otherwise
#endif

#if CLOPT_CLML_NEWEST >= 2
#define CLOPT_CLML_IN_2(clml, call, otherwise) \
    ((clml)->major == 2 ? CLOPT_CLML_VERSION(2, clml, call) : otherwise)
#else
#define CLOPT_CLML_IN_2(clml, call, otherwise) otherwise
#endif

#define CLOPT_CLML_IN_1(clml, call, otherwise) \
    ((clml)->major == 1 ? CLOPT_CLML_VERSION(1, clml, call) : otherwise)

#define CLOPT_CLML_FROM_2(clml, call) \
    CLOPT_CLML_IN_2(clml, call, CLOPT_CLML_IN_3(clml, call, CLOPT_CLML_FROM_4(clml, call)))

#define CLOPT_CLML_BEFORE_4(clml, call) \
    CLOPT_CLML_IN_1(clml, call, \
                    CLOPT_CLML_IN_2(clml, call, CLOPT_CLML_IN_3(clml, call, CL_INVALID_OPERATION)))

#define CLOPT_CLML_CALL(clml, call) \
    CLOPT_CLML_IN_1(clml, call, CLOPT_CLML_FROM_2(clml, call))

/* clopt_clml_operations.c */

/* A request to create an operation. */
typedef struct clopt_clml_request {
    const clopt_clml_interface *clml;
    cl_context context;
    cl_ml_tuningcache_qcom tuning;
    cl_ml_tensor_qcom unused; /* CLML's placeholder for an absent tensor */
    const clopt_clml_operation *facts;
    const cl_ml_tensor_qcom *tensors; /* in the order of the kind; the last is the result */
} clopt_clml_request;

struct clopt_clml_kind {
    const char *call; /* CLML's function, for messages */
    /* NULL for a copy, which is not an operation of CLML */
    cl_int (*create)(const clopt_clml_request *request, cl_ml_op_qcom *operation);
};

/* clopt_clml.c */

/* A graph on the device. */
typedef struct clopt_clml_state {
    cl_ml_tensor_qcom *tensors;
    size_t *bytes; /* of each tensor, as reported by the device */
    cl_mem *own;   /* memory of constants; for tensors larger than planned, from `larger` */
    cl_ml_op_qcom *operations; /* NULL for a copy */
    cl_ml_tensor_mem_desc_set_qcom set;
    cl_ml_tensor_memory_desc_qcom *bindings; /* the contents of the set, */
    int is_outdated;                         /* whether the set must be filled with them again */
} clopt_clml_state;

/* A model's graphs on the device, in model->offloaded. */
typedef struct clopt_clml_offload {
    clopt_clml_interface interface;
    cl_ml_tuningcache_qcom tuning;
    cl_ml_tensor_qcom unused;
    clopt_clml_state *graphs;
    cl_mem *larger; /* by slot: a buffer for tensors that are too large for the slot */
    clopt_offload_info info;
} clopt_clml_offload;

/* One operation of a model. */
typedef struct clopt_clml_position {
    const clopt_clml_graph *graph;
    clopt_clml_state *state;
    unsigned index; /* in the graph */
} clopt_clml_position;

clopt_clml_position clopt_clml_find_operation(const clopt_model *model, unsigned operation);

/* clopt_clml_memory.c */

/* Returns the number of the tensor that is an argument of an operation. */
unsigned clopt_clml_argument(const clopt_clml_graph *graph, unsigned operation, unsigned argument);

/* Queries the sizes of all tensors and creates the buffers outside of the model's memory. */
clopt_status clopt_clml_make_memory(clopt_model *model, const unsigned char *weights);
void clopt_clml_release_memory(clopt_model *model);

/* clopt_clml_tuning.c */

/* Creates the tuning cache and, unless `tuning` is NULL, fills it with `tuning`. */
clopt_status clopt_clml_load_tuning(clopt_model *model, const unsigned char *tuning,
                                    size_t bytes);
clopt_status clopt_clml_tune(clopt_model *model, cl_command_queue queue, unsigned operation);
clopt_status clopt_clml_save_tuning(clopt_model *model, unsigned char **tuning, size_t *bytes);

#endif
