/* Runs networks that clopt compiled, on the caller's own OpenCL context, device and queue.
 *
 * This header and its sources are the same for every model. The header with the name of a model
 * declares its own functions, such as digits_create(), and the indices of its tensors.
 * The functions here accept any model, for code that handles several.
 *
 * - Every function that can fail returns a clopt_status; clopt_message() describes the last error.
 * - There is no global state: models are independent, and each is used by one thread at a time.
 * - Enqueueing never waits for the device and allocates nothing: an inference is a sequence of
 *   clEnqueueNDRangeKernel calls.
 */
#ifndef CLOPT_RUNTIME_H
#define CLOPT_RUNTIME_H

#include <stddef.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clopt_status {
    CLOPT_OK = 0,
    CLOPT_ARGUMENT,    /* a null pointer, an invalid index, or an unsuitable queue */
    CLOPT_HOST_MEMORY, /* malloc failed */
    CLOPT_FILE,        /* a file cannot be opened, read or written */
    CLOPT_WEIGHTS,     /* the weights are damaged, incomplete, or of another model */
    CLOPT_DEVICE,      /* the device lacks a feature or is too small; see the message */
    CLOPT_BUILD,       /* the device's compiler rejects the kernels */
    CLOPT_BUFFER,      /* a buffer is too small or belongs to another context */
    CLOPT_UNBOUND,     /* an inference was enqueued before every input and output was bound */
    CLOPT_OPENCL       /* an OpenCL call failed; the message names the call and the error */
} clopt_status;

typedef enum clopt_dtype {
    CLOPT_BOOL, /* one byte, 0 or 1 */
    CLOPT_I8,
    CLOPT_U8,
    CLOPT_I16,
    CLOPT_U16,
    CLOPT_I32,
    CLOPT_U32,
    CLOPT_I64,
    CLOPT_U64,
    CLOPT_F16,
    CLOPT_F32,
    CLOPT_F64
} clopt_dtype;

/* How intermediate results that are images are stored. */
typedef enum clopt_image_views {
    CLOPT_NO_IMAGE_VIEWS,     /* the model has no images that could lie in the arena */
    CLOPT_IMAGES_FROM_BUFFER, /* in the arena, next to the buffers (cl_khr_image2d_from_buffer) */
    CLOPT_IMAGE_OBJECTS       /* some as separate objects, shared by equal ones: more memory */
} clopt_image_views;

/* How launches are put on the queue; see clopt_options.replay. */
typedef enum clopt_replay_kind {
    CLOPT_NO_REPLAY,        /* one by one */
    CLOPT_COMMAND_BUFFER,   /* recorded with cl_khr_command_buffer */
    CLOPT_RECORDABLE_QUEUE  /* recorded with cl_qcom_recordable_queues */
} clopt_replay_kind;

/* An input or output. Its elements are in row-major order without gaps; the bytes of an image
 * are those of its texels, see clopt_bind_image. */
typedef struct clopt_tensor {
    const char *name;
    clopt_dtype dtype;
    size_t rank;
    const size_t *shape; /* `rank` extents */
    size_t bytes;
} clopt_tensor;

/* A dimension whose size the caller sets, see clopt_set_dim. */
typedef struct clopt_dim {
    const char *name;
    size_t least, most;
} clopt_dim;

/* Properties of a model that are known before it is created. */
typedef struct clopt_info {
    const char *name;
    const char *target; /* the target for which it was compiled */
    size_t input_count;
    size_t output_count;
    const clopt_tensor *tensors; /* the inputs, then the outputs, of the largest sizes */
    size_t arena_count;
    const size_t *arena_sizes; /* bytes of the buffers that hold all intermediate results; in a
                                  package with two plans, sizes that suffice for both */
    size_t weights_bytes;      /* of the weights file; the constants of one plan occupy at most as
                                  much on the device */
    size_t dim_count; /* open dimensions */
    const clopt_dim *dims;
} clopt_info;

/* The environment of a model. Unused fields must be zero: clopt_options options = {0}; */
typedef struct clopt_options {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue; /* in-order, of this context and device; the model retains all three */

    const char *weights_path; /* the package's weights.bin ... */
    const void *weights;      /* ... or its contents in memory, needed only during creation */
    size_t weights_bytes;

    const char *binaries_path; /* a file of clopt_save_binaries, or NULL; kernels are built from
                                  source if it is missing or from another driver */

    const cl_mem *arenas; /* for intermediate results, see clopt_set_arena; NULL: allocated */
    size_t arena_count;

    int replay; /* not 0: record the launches at the first inference, and after each change of a
                   binding, and enqueue them as one command, if the device supports it */

    const char *tuning_path; /* a file of clopt_tune, or NULL; it is ignored if it is missing, or
                                made for another model or by another driver */

    int offload_version; /* the newest major version of the vendor's interface to use; 0: any */

    const char *programs_folder; /* the folder of the package's program_....bin, which are binaries
                                    for the device; NULL: the folder of the weights file */

    const char *plan; /* the only plan to use, see clopt_model_plan; NULL: the first that works */
} clopt_options;

typedef struct clopt_program clopt_program; /* the tables of a model, in its generated source */
typedef struct clopt_model clopt_model;

/* Builds the kernels, uploads the weights and allocates the intermediate results.
 *
 * A package may have two plans: one in which a vendor's library computes part of the network, and
 * one with kernels only. The second is used if the device cannot run the first, because it lacks
 * the library or a feature, or because the library rejects an operation; see clopt_model_plan.
 *
 * On failure *model is NULL, nothing is leaked, and `message`, if not NULL, holds an error message
 * of at most message_bytes bytes, including its terminating zero. This function may wait for the
 * device.
 */
clopt_status clopt_create(const clopt_program *program, const clopt_options *options,
                          clopt_model **model, char *message, size_t message_bytes);

/* Releases everything that the model holds; enqueued commands still complete. `model` may be
   NULL. */
void clopt_destroy(clopt_model *model);

/* Returns the message of the last call with this model that failed; never NULL. */
const char *clopt_message(const clopt_model *model);

/* Returns "CLOPT_OK" and so on. */
const char *clopt_status_name(clopt_status status);

/* Returns numpy's name of a type, such as "float32". */
const char *clopt_dtype_name(clopt_dtype dtype);

/* Returns the info of the model's plan, whose arenas may be smaller than those of the package. */
const clopt_info *clopt_model_info(const clopt_model *model);

/* Returns the plan that the model runs: "kernels", or the vendor's library that computes a part
 * of it, such as "CLML". If `reason` is not NULL, *reason becomes a message about why the
 * previous plan cannot run, or NULL for the package's first plan. The message lives as long as
 * the model. */
const char *clopt_model_plan(const clopt_model *model, const char **reason);

clopt_image_views clopt_model_image_views(const clopt_model *model);

/* Returns how launches are put on the queue; one by one if recording failed. */
clopt_replay_kind clopt_model_replay(const clopt_model *model);

/* Returns whether the kernels came from options.binaries_path. */
int clopt_model_used_binaries(const clopt_model *model);

/* Returns the bytes of arenas, weights, and buffers and images outside of the arenas, excluding
 * the inputs and outputs. */
size_t clopt_model_device_bytes(const clopt_model *model);

/* The part of a model that a vendor's library computes. */
typedef struct clopt_offload_info {
    const char *library; /* "CLML"; NULL if the model uses none, and then all else is zero */
    int major, minor;    /* the version of its interface in use */
    size_t operations;
    size_t tensors;        /* tensors that the operations read and write, excluding constants */
    size_t larger_tensors; /* those for which the device needs more bytes than planned; */
    size_t larger_bytes;   /* they lie outside of the arena, in buffers of this total size */
    size_t constant_bytes; /* the size of the constants in the device's own layout */
} clopt_offload_info;

clopt_offload_info clopt_model_offload(const clopt_model *model);

/* Returns the index of the tensor called `name`, or -1. */
int clopt_find_tensor(const clopt_info *info, const char *name);

/* Lets the caller's buffers hold the intermediate results, from the next inference on.
 *
 * There must be info->arena_count buffers of at least info->arena_sizes[i] bytes, which kernels may
 * read and write; `info` is that of the package or of the model. Models whose inferences follow one
 * another on one queue may share the buffers, and other commands may use them between inferences:
 * nothing is kept from one inference to the next. If `arenas` is NULL, the model allocates its own
 * buffers again. The model retains the buffers.
 */
clopt_status clopt_set_arena(clopt_model *model, const cl_mem *arenas, size_t arena_count);

/* Puts later inferences on `queue`, which must be in-order and of the model's context and
 * device. The model retains it. The caller must order them after commands on the previous queue. */
clopt_status clopt_set_queue(clopt_model *model, cl_command_queue queue);

/* Makes inferences read or write `buffer` for the tensor `index` from now on. The model retains
 * it. To bind part of a larger buffer, create a sub-buffer. An inference fails if an output
 * shares bytes with another tensor. */
clopt_status clopt_bind_buffer(clopt_model *model, size_t index, cl_mem buffer);

/* Makes inferences read or write `image` for the tensor `index` from now on; the model must have
 * been compiled with --image for that tensor. The model retains it.
 *
 * It is a 2-D image of CL_RGBA texels. For a tensor N x C x H x W it has the width W and the
 * height N * ceil(C / 4) * H: the rows of channels 0 to 3 come first, followed by those of
 * channels 4 to 7 and so on, and then by the next of the N. Kernels ignore texel channels that
 * an input lacks, such as a camera's alpha, and write 0 to those that an output lacks. Channel
 * types are CL_FLOAT, CL_HALF_FLOAT, or CL_UNORM_INT8, which kernels read as 0 to 1 and write
 * clamped to that range; a tensor of halves requires CL_HALF_FLOAT. */
clopt_status clopt_bind_image(clopt_model *model, size_t index, cl_mem image);

/* Makes each inference copy the input `index` from `data`, or the output to it, in queue order.
 * `data` must stay valid, and an input unchanged, until the queue has executed the copy. Inputs
 * are only read. The first call for a tensor allocates a buffer or an image on the device; for
 * an image, `data` holds the floats or halves of its texels, row by row. */
clopt_status clopt_bind_host(clopt_model *model, size_t index, void *data);

/* Sets the size of an open dimension from the next inference on. Before the first call, all have
 * their largest size.
 *
 * Inputs and outputs are then arrays of these sizes, see clopt_model_shape, in row-major order
 * without gaps. Buffers on the device still have the bytes of the largest sizes, of which only the
 * first ones count. This function neither waits nor allocates anything, but drops a recording, see
 * clopt_options.replay. It returns CLOPT_ARGUMENT and changes nothing if the program does not serve
 * the size together with those of the other dimensions. */
clopt_status clopt_set_dim(clopt_model *model, const char *name, size_t size);

/* Return the extents of the tensor `index` for the current sizes, and its bytes. The shape is NULL
 * for a scalar and for an invalid index. */
const size_t *clopt_model_shape(const clopt_model *model, size_t index);
size_t clopt_model_bytes(const clopt_model *model, size_t index);

/* Puts one inference on the queue and returns at once.
 *
 * If `done` is not NULL, *done becomes an event that completes with the inference; the caller
 * releases it. After a failure, part of the inference may be on the queue.
 */
clopt_status clopt_enqueue(clopt_model *model, cl_event *done);

/* One command of an inference. */
typedef struct clopt_timing {
    const char *kind; /* "kernel", "copy", or the vendor's library that computes it */
    const char *name; /* the name of the kernel, the copy's destination, or the operation */
    cl_ulong start;       /* by the device's clock, in nanoseconds */
    cl_ulong nanoseconds; /* duration on the device */
} clopt_timing;

/* Returns how many commands an inference has, excluding copies from and to host memory. */
size_t clopt_command_count(const clopt_model *model);

/* Runs one inference, command by command and never as a replay, and measures each command.
 * `timings` has an element per command. All inputs and outputs must be bound. Waits for the
 * device. */
clopt_status clopt_profile(clopt_model *model, clopt_timing *timings, size_t count);

/* Runs one inference in which the vendor's library finds the fastest variant of each of its
 * operations on this device, and writes the results to a file for options.tuning_path. Models
 * created with that file are faster; this model does not change. All inputs and outputs must be
 * bound. This takes seconds to minutes. Returns CLOPT_ARGUMENT for a model without such
 * operations. */
clopt_status clopt_tune(clopt_model *model, const char *path);

/* Writes the built kernels to a file for options.binaries_path. Only the same driver accepts it. */
clopt_status clopt_save_binaries(clopt_model *model, const char *path);

#ifdef __cplusplus
}
#endif

#endif
