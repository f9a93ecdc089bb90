/* What the sources of the reference library share.
 *
 * Every entry point takes the library's one lock for as long as it runs, so objects need no lock of
 * their own. A handle is a number that is never given out twice, found in a table of live ones: a
 * released handle is told from a live one for good. Objects count references: that of their handle,
 * and those of the objects that use them.
 *
 * An operation is made by a file of its own, in three steps (op_binary.c is a short one):
 *
 *     clml_build b;
 *     clml_begin(&b, "clCreateMLOpBinaryQCOM", context, properties, op, cache);
 *     clml_tensor *a = clml_input(&b, "a", a_handle);          - checks; after the first failure
 *     clml_require(&b, a->n == c->n, "...", ...);                the others do nothing
 *     if (clml_ok(&b)) {
 *         clml_use(&b, "a", a);                                - the kernel's parameters, in order
 *         clml_use(&b, "c", c);
 *         clml_pass_float(&b, alpha);
 *         clml_launch(&b, "binary", SOURCE, c);                - one work-item per element of c
 *     }
 *     return clml_end(&b);
 */
#ifndef CLML_REFERENCE_H
#define CLML_REFERENCE_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_qcom_ml_ops.h>
#include <stddef.h>

#define CLML_MAX_TENSORS 64    /* of an operation */
#define CLML_MAX_PARAMETERS 16 /* tensors of a kernel */
#define CLML_MAX_SCALARS 32    /* of a kernel */
#define CLML_MAX_SIZE 32768    /* of a tensor along n, c, h or w */
#define CLML_OPTION_BYTES 128  /* of the options of a program */

#if defined(__GNUC__)
#define CLML_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLML_PRINTF(text, rest)
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* objects.c: handles, references and the lock */

typedef enum clml_kind {
    CLML_TENSOR,
    CLML_OP,
    CLML_SET,
    CLML_CACHE,
    CLML_RECORDING
} clml_kind;

typedef struct clml_object {
    clml_kind kind;
    cl_uint references;
    int released;                         /* its handle is gone */
    size_t handle;                        /* 0 before it has one */
    void (*destroy)(struct clml_object *); /* frees it and all that it refers to */
} clml_object;

/* The lock is recursive: what the library calls of OpenCL comes back to it as a layer. */
void clml_lock(void);
void clml_unlock(void);

/* A zeroed object with one reference, NULL when out of memory. */
void *clml_new(clml_kind kind, size_t bytes, void (*destroy)(clml_object *));
void clml_retain(void *object);
void clml_drop(void *object); /* NULL is allowed */

/* Gives the object a handle, to which its one reference now belongs; NULL when out of memory. */
void *clml_publish(void *object);

/* The object of a live handle, else NULL and a message in the name of `function`. */
void *clml_find(const char *function, clml_kind kind, const void *handle);

/* Ends the life of a handle. */
cl_int clml_release(const char *function, clml_kind kind, const void *handle);

/* log.c */

/* Notes "function: sentence", for clmlReferenceMessage and CLML_REFERENCE_LOG, returns `error`. */
cl_int clml_refuse(const char *function, cl_int error, const char *format, ...) CLML_PRINTF(3, 4);

/* A call that succeeded, or a thing that happened; logged where CLML_REFERENCE_LOG_LEVEL is 1. */
void clml_trace(const char *function, const char *format, ...) CLML_PRINTF(2, 3);

/* program.c: programs, kept per context while an object of the library lives in it */

typedef struct clml_context clml_context;

/* The record of a context, retained; NULL and a message where it is none. */
clml_context *clml_find_context(const char *function, cl_context context);
void clml_retain_context(clml_context *context);
void clml_drop_context(clml_context *context);
cl_context clml_context_of(const clml_context *context);

/* A new kernel of the program of `source` after the text of kernel_text.h, built with `options`;
 * NULL and a message. `source` is a literal: its address is its identity. */
cl_kernel clml_kernel(const char *function, clml_context *context, const char *source,
                      const char *name, const char *options);

/* tensor.c */

typedef struct clml_tensor {
    clml_object object;
    clml_context *context;
    int is_unused; /* created to say that there is none: nothing else is set */
    int has_usage; /* created by an interface that has usages */
    int usage;     /* CL_TENSOR_USAGE_..., CNN where there was none */
    cl_channel_type type;
    cl_ml_tensor_layout_qcom layout;
    int n, c, h, w;
    size_t padding; /* bytes after an OPTIMAL one */
    int is_referenced; /* by an operation, once: the size is known */
    int is_written;    /* an OPTIMAL one: some command has put data into it */
} clml_tensor;

size_t clml_element_bytes(cl_channel_type type);
size_t clml_tensor_elements(const clml_tensor *tensor);
size_t clml_tensor_bytes(const clml_tensor *tensor);

/* "1x3x8x8 float OPTIMAL", in one of a few buffers that take turns. */
const char *clml_describe(const clml_tensor *tensor);
const char *clml_layout_name(cl_ml_tensor_layout_qcom layout); /* NULL: there is no such layout */

/* memory_set.c */

typedef struct clml_binding {
    clml_tensor *tensor;
    cl_mem memory;
} clml_binding;

typedef struct clml_set {
    clml_object object;
    cl_uint count;
    clml_binding *bindings;
} clml_set;

/* The memory of the tensor, NULL where the set has none. */
cl_mem clml_memory_of(const clml_set *set, const clml_tensor *tensor);

/* Checks that `memory` is a buffer of the tensor's context that holds it. `role` names it. */
cl_int clml_check_memory(const char *function, const char *role, const clml_tensor *tensor,
                         cl_mem memory);

/* Whether two tensors have bytes in common where they are. */
int clml_overlap(const clml_tensor *a, cl_mem a_memory, const clml_tensor *b, cl_mem b_memory);

/* An in-order queue of the context, and a list of events. */
cl_int clml_check_queue(const char *function, const clml_context *context, cl_command_queue queue,
                        cl_uint wait_count, const cl_event *waits);

/* build.c: how operations are made */

/* One kernel; its scalars are set, its tensors are set at each launch. */
typedef struct clml_kernel_launch {
    cl_kernel kernel;
    cl_uint tensor_count;
    int tensors[CLML_MAX_PARAMETERS]; /* indices into the operation's; -1: there is none */
    size_t work_items;
} clml_kernel_launch;

typedef struct clml_op {
    clml_object object;
    clml_context *context;
    const char *name;          /* the function that made it */
    unsigned long long digest; /* of its kernels and sizes, for tuning */
    cl_uint tensor_count;
    clml_tensor *tensors[CLML_MAX_TENSORS];
    const char *roles[CLML_MAX_TENSORS];
    int is_output[CLML_MAX_TENSORS];
    cl_uint launch_count;
    clml_kernel_launch *launches;
} clml_op;

/* Where a value of a kernel's parameter goes. */
typedef struct clml_scalar {
    size_t bytes;
    union {
        cl_int i[4];
        cl_float f[4];
    } value;
} clml_scalar;

typedef struct clml_build {
    const char *function;
    cl_int error; /* CL_SUCCESS up to the first failure */
    clml_context *context;
    clml_op *op;
    cl_ml_op_qcom *out;
    cl_channel_type type; /* of all tensors; 0 before the first */
    /* Of the launch that is being made: */
    clml_kernel_launch launch;
    cl_uint scalar_count;
    clml_scalar scalars[CLML_MAX_SCALARS];
    int has_epsilon; /* the property CL_ML_BATCH_NORM_OP_EPSILON_QCOM was given */
    float epsilon;   /* 1e-5 where it was not */
} clml_build;

/* Takes the lock, and checks what all creators have in common. clml_end gives the lock back. The
 * property of batch norms is read into b->epsilon; an operation without a batch norm refuses it:
 * clml_require(&b, !b.has_epsilon, ...). */
void clml_begin(clml_build *b, const char *function, cl_context context,
                const cl_ml_op_properties_qcom *properties, cl_ml_op_qcom *op,
                cl_ml_tuningcache_qcom cache);

/* Returns what the creator returns, and stores the handle or NULL. */
cl_int clml_end(clml_build *b);

/* Whether all has been well so far. */
int clml_ok(const clml_build *b);

/* Notes a failure unless there was one before: CL_INVALID_VALUE and a sentence without a period.
 * Returns clml_ok: whether to go on. The arguments must bear to be computed after a failure: the
 * tensors below are never NULL, and after a failure they are 1x1x1x1. */
int clml_require(clml_build *b, int condition, const char *format, ...) CLML_PRINTF(3, 4);

/* The tensor of a handle. `role` names it in messages. All tensors of an operation have one type.
 * An unused tensor is refused, as are NULL and what was released. */
clml_tensor *clml_input(clml_build *b, const char *role, cl_ml_tensor_qcom handle);
clml_tensor *clml_output(clml_build *b, const char *role, cl_ml_tensor_qcom handle);

/* An input with constant data: where tensors have usages, it is a PARAMETER. */
clml_tensor *clml_parameter(clml_build *b, const char *role, cl_ml_tensor_qcom handle);

/* The same; NULL for an unused tensor, and after a failure. A NULL handle is refused. */
clml_tensor *clml_optional_parameter(clml_build *b, const char *role, cl_ml_tensor_qcom handle);

/* NULL or an unused tensor, else a failure. */
void clml_no_tensor(clml_build *b, const char *role, cl_ml_tensor_qcom handle);

/* Checks of tensors and of members of descriptors. */
int clml_require_layout(clml_build *b, const char *role, const clml_tensor *tensor,
                        cl_ml_tensor_layout_qcom layout);
int clml_require_shape(clml_build *b, const char *role, const clml_tensor *tensor, int n, int c,
                       int h, int w);
int clml_require_arithmetic(clml_build *b, cl_arithmetic_mode_qcom mode); /* fits the tensors */

/* clml_require(desc != NULL), with the message. */
int clml_require_desc(clml_build *b, const char *what, const void *desc);

/* A value such as alpha: a CL_FLOAT, else a failure and 0. */
float clml_float_of(clml_build *b, const char *what, const clml_reference_value *value);

/* The next parameter of the kernel: TENSOR(name) in its text; NULL: there is none. */
void clml_use(clml_build *b, const char *name, const clml_tensor *tensor);

/* The parameters after the tensors, in order: int, int2, int4, float. */
void clml_pass_int(clml_build *b, int value);
void clml_pass_int2(clml_build *b, int first, int second);
void clml_pass_int4(clml_build *b, int first, int second, int third, int fourth);
void clml_pass_float(clml_build *b, float value);

/* Ends a launch: the kernel `name` of `source`, which has one work-item per element of `result`. An
 * operation may have several; the parameters of the next begin anew. */
void clml_launch(clml_build *b, const char *name, const char *source, const clml_tensor *result);

/* The options of a program for tensors of a type. */
void clml_type_options(char text[CLML_OPTION_BYTES], cl_channel_type type);

/* A work-item per element, in whole work-groups of one size for all kernels: devices that compile a
 * kernel for each size then do so once. */
extern const size_t clml_group_size;
size_t clml_work_items(const clml_tensor *tensor);

/* op.c: operations on queues */

/* Sets the two arguments of a kernel's tensor number `index`. */
cl_int clml_set_tensor(cl_kernel kernel, cl_uint index, const clml_tensor *tensor, cl_mem memory);

/* Checks an operation and finds the memories of its tensors. */
cl_int clml_check_op(const char *function, cl_command_queue queue, const clml_op *op,
                     const clml_set *set, cl_uint wait_count, const cl_event *waits,
                     cl_mem *memories);

/* Checks an operation with its memories, and puts it on the queue. */
cl_int clml_enqueue(const char *function, cl_command_queue queue, clml_op *op, const clml_set *set,
                    cl_uint wait_count, const cl_event *waits, cl_event *event);

/* recording.c */

/* A queue whose commands are recorded; the layer tells of their beginning and end. */
int clml_is_recordable(cl_command_queue queue);
cl_int clml_add_recordable(cl_command_queue queue);
void clml_remove_recordable(cl_command_queue queue);

/* CL_SUCCESS, or a message: what `function` does cannot be recorded. */
cl_int clml_refuse_recordable(const char *function, cl_command_queue queue);

/* How many launches a recording may have, CLML_REFERENCE_RECORDING_SIZE or 256. */
cl_uint clml_recording_size(void);

/* Adds to the recording of the queue. */
cl_int clml_record_op(const char *function, cl_command_queue queue, clml_op *op, clml_set *set,
                      cl_uint wait_count, const cl_event *event);
cl_int clml_record_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                          const size_t *offset, const size_t *global, const size_t *local,
                          cl_uint wait_count, const cl_event *event);

/* onchip.c */

/* The bytes of the device's on-chip memory, CLML_REFERENCE_ONCHIP_BYTES or 1 MiB. */
size_t clml_onchip_bytes(void);

/* A buffer of on-chip memory; offsets overlap as the application wants. */
cl_mem clml_create_onchip(cl_context context, cl_mem_flags flags, size_t offset, size_t bytes,
                          cl_int *error);

/* Nothing in on-chip memory outlasts a recording. */
cl_int clml_spoil_onchip(cl_command_queue queue);

/* kernel text */

/* The text of kernels; it has no line beginning with #, and less than 4096 characters. */
#define CLML_SOURCE(...) #__VA_ARGS__

/* What stands before every program's text: see there for what kernels are written with. */
extern const char clml_kernel_text[];

/* interface.c: the version that the device pretends to have, CLML_REFERENCE_VERSION or 5 */
int clml_device_version(void);

/* Entry points, by file. */

/* tensor.c */
clml_reference_create_tensor clml_create_tensor;
clml_reference_create_tensor_with_usage clml_create_tensor_with_usage;
clml_reference_release_tensor clml_release_tensor;
clml_reference_get_memory_size clml_get_memory_size;
clml_reference_set_dimensions clml_set_dimensions;
/* transfer.c */
clml_reference_enqueue_write clml_enqueue_write;
clml_reference_enqueue_read clml_enqueue_read;
clml_reference_enqueue_copy clml_enqueue_copy;
/* memory_set.c */
clml_reference_create_set clml_create_set;
clml_reference_update_set clml_update_set;
clml_reference_release_set clml_release_set;
/* tuning.c */
clml_reference_create_cache clml_create_cache;
clml_reference_release_cache clml_release_cache;
clml_reference_tune_op clml_tune_op;
clml_reference_save_cache clml_save_cache;
clml_reference_load_cache clml_load_cache;
/* op.c */
clml_reference_release_op clml_release_op;
clml_reference_enqueue_op clml_enqueue_ml_op;
clml_reference_update_op clml_update_op;
/* recording.c */
clml_reference_enqueue_recording clml_enqueue_recording_ml_op;

/* The creators of operations: op_<name>.c */
clml_reference_create_convolution clml_create_convolution;
clml_reference_create_convolution_activation clml_create_convolution_activation;
clml_reference_create_convolution_batchnorm clml_create_convolution_batchnorm;
clml_reference_create_convolution_batchnorm_activation
    clml_create_convolution_batchnorm_activation;
clml_reference_create_batchnorm clml_create_batchnorm;
clml_reference_create_activation clml_create_activation;
clml_reference_create_pooling clml_create_pooling;
clml_reference_create_softmax clml_create_softmax;
clml_reference_create_pad clml_create_pad;
clml_reference_create_reshape clml_create_reshape;
clml_reference_create_concat clml_create_concat;
clml_reference_create_fully_connected clml_create_fully_connected;
clml_reference_create_gemm clml_create_gemm;
clml_reference_create_binary clml_create_binary;
clml_reference_create_clip clml_create_clip;
clml_reference_create_depth_to_space clml_create_depth_to_space;
clml_reference_create_resize_bilinear clml_create_resize_bilinear;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
