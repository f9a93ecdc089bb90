/* Runs networks that clopt compiled, on the caller's own OpenCL context, device and queue.
 *
 * This header and its sources are the same for every model. What belongs to one model is in the
 * header that bears its name: functions such as digits_create(), and the indices of its tensors.
 * The functions here take any model, for code that handles several.
 *
 * - Every function that can fail returns a clopt_status; clopt_message() has a sentence about it.
 * - Nothing here is global: models are independent, and each is used by one thread at a time.
 * - Enqueueing never waits for the device. It allocates nothing either, so an inference is a row of
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
    CLOPT_ARGUMENT,    /* a null pointer, an index or a queue that does not fit */
    CLOPT_HOST_MEMORY, /* malloc failed */
    CLOPT_FILE,        /* a file cannot be opened, read or written */
    CLOPT_WEIGHTS,     /* the weights are damaged, cut short, or those of another model */
    CLOPT_DEVICE,      /* the device lacks a feature or is too small; the message says what */
    CLOPT_BUILD,       /* the device's compiler refuses the kernels */
    CLOPT_BUFFER,      /* a buffer is too small or belongs to another context */
    CLOPT_UNBOUND,     /* enqueued before every input and output was bound */
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

/* How intermediate results that are images are kept. */
typedef enum clopt_image_views {
    CLOPT_NO_IMAGE_VIEWS,     /* the model has none that could lie in the arena */
    CLOPT_IMAGES_FROM_BUFFER, /* in the arena, beside the buffers (cl_khr_image2d_from_buffer) */
    CLOPT_IMAGE_OBJECTS       /* some as objects of their own, shared by equal ones: more memory */
} clopt_image_views;

/* How launches are put on the queue, see clopt_options.replay. */
typedef enum clopt_replay_kind {
    CLOPT_NO_REPLAY,        /* one by one */
    CLOPT_COMMAND_BUFFER,   /* recorded, by cl_khr_command_buffer */
    CLOPT_RECORDABLE_QUEUE  /* recorded, by cl_qcom_recordable_queues */
} clopt_replay_kind;

/* An input or output: elements lie in row-major order without gaps. The bytes of one that is an
 * image are those of its texels, see clopt_bind_image. */
typedef struct clopt_tensor {
    const char *name;
    clopt_dtype dtype;
    size_t rank;
    const size_t *shape; /* of `rank` entries */
    size_t bytes;
} clopt_tensor;

/* Facts about a model that are known before it is created. */
typedef struct clopt_info {
    const char *name;
    const char *target; /* the device it was compiled for */
    size_t input_count;
    size_t output_count;
    const clopt_tensor *tensors; /* the inputs, then the outputs */
    size_t arena_count;
    const size_t *arena_sizes; /* bytes of the buffers that hold all intermediate results; of a
                                  package with two plans the larger ones, which do for both */
    size_t weights_bytes;      /* of the weights file; the constants of one plan take as much on the
                                  device, or less */
} clopt_info;

/* What a model runs on. Every field that you do not need is zero: clopt_options options = {0}; */
typedef struct clopt_options {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue; /* in order, of this context and device; the model retains all three */

    const char *weights_path; /* the package's weights.bin ... */
    const void *weights;      /* ... or its contents in memory, needed during creation only */
    size_t weights_bytes;

    const char *binaries_path; /* a file of clopt_save_binaries, or NULL; kernels are built from
                                  source if it is absent or was made by another driver */

    const cl_mem *arenas; /* for intermediate results, see clopt_set_arena; NULL: own ones */
    size_t arena_count;

    int replay; /* not 0: record the launches at the first inference, and after each change of a
                   binding, and put them on the queue as one command, where the device can */

    const char *tuning_path; /* a file of clopt_tune, or NULL; it is ignored if it is absent or was
                                made for another model or by another driver */

    int offload_version; /* the newest major version of the vendor's interface to use; 0: any */

    const char *programs_folder; /* where the package's program_....bin are, if it has any: binaries
                                    for the device; NULL: beside the weights file */

    const char *plan; /* the only plan to take, see clopt_model_plan; NULL: the first that works */
} clopt_options;

typedef struct clopt_program clopt_program; /* the tables of a model, in its generated source */
typedef struct clopt_model clopt_model;

/* Builds the kernels, uploads the weights and allocates the intermediate results.
 *
 * A package may have two plans: one in which a vendor's library computes a part of the network, and
 * one of kernels alone. The second is taken where the device cannot run the first: it lacks the
 * library or a feature, or the library refuses an operation. clopt_model_plan tells.
 *
 * On failure *model is NULL, nothing is leaked, and `message`, unless it is NULL, holds a sentence
 * of at most message_bytes characters, its end included. This function may wait for the device.
 */
clopt_status clopt_create(const clopt_program *program, const clopt_options *options,
                          clopt_model **model, char *message, size_t message_bytes);

/* Releases everything the model holds; commands on the queue still complete. NULL is allowed. */
void clopt_destroy(clopt_model *model);

/* A sentence about the last call with this model that did not return CLOPT_OK. Never NULL. */
const char *clopt_message(const clopt_model *model);

/* "CLOPT_OK" and so on. */
const char *clopt_status_name(clopt_status status);

/* "float32" and so on, as numpy has it. */
const char *clopt_dtype_name(clopt_dtype dtype);

/* That of the model's plan: the sizes of its arenas may be smaller than those of the package. */
const clopt_info *clopt_model_info(const clopt_model *model);

/* The plan that the model runs: "kernels", or the vendor's library that computes a part of it, such
 * as "CLML". `reason`, unless it is NULL, becomes a sentence about why the plan before it was not
 * taken; NULL where it is the package's first. The sentence lives as long as the model. */
const char *clopt_model_plan(const clopt_model *model, const char **reason);

clopt_image_views clopt_model_image_views(const clopt_model *model);

/* How launches are put on the queue; where recording failed, one by one. */
clopt_replay_kind clopt_model_replay(const clopt_model *model);

/* Whether the kernels came from options.binaries_path. */
int clopt_model_used_binaries(const clopt_model *model);

/* Bytes of arenas, weights, and buffers and images outside of the arenas; without the inputs and
 * outputs. */
size_t clopt_model_device_bytes(const clopt_model *model);

/* The part of a model that a vendor's library computes. */
typedef struct clopt_offload_info {
    const char *library; /* "CLML"; NULL: the model uses none, and all else is zero */
    int major, minor;    /* the version of its interface in use */
    size_t operations;
    size_t tensors;        /* those that the operations read and write, without the constants */
    size_t larger_tensors; /* those of them for which the device needs more bytes than planned: */
    size_t larger_bytes;   /* they lie outside of the arena, in buffers of this total size */
    size_t constant_bytes; /* the size of the constants in the device's own layout */
} clopt_offload_info;

clopt_offload_info clopt_model_offload(const clopt_model *model);

/* The index of the tensor called `name`, or -1. */
int clopt_find_tensor(const clopt_info *info, const char *name);

/* Lets the caller's buffers hold the intermediate results from the next inference on.
 *
 * There are info->arena_count of them, each of at least info->arena_sizes[i] bytes, readable and
 * writable by kernels; `info` is that of the package, or that of the model. Models whose inferences
 * follow one another on one queue may share them, and other commands may use them in between:
 * nothing is kept from one inference to the next. With `arenas` NULL the model allocates its own
 * again. The model retains the buffers.
 */
clopt_status clopt_set_arena(clopt_model *model, const cl_mem *arenas, size_t arena_count);

/* The following inferences are put on `queue`, in order and of the model's context and device. The
 * model retains it. Nothing orders them after those on the queue before; that is the caller's. */
clopt_status clopt_set_queue(clopt_model *model, cl_command_queue queue);

/* Inferences read or write `buffer` for the tensor `index` from now on. The model retains it. A
 * tensor that lies inside of a larger buffer is bound by a sub-buffer of that. An inference refuses
 * an output that shares bytes with another tensor. */
clopt_status clopt_bind_buffer(clopt_model *model, size_t index, cl_mem buffer);

/* Inferences read or write `image` for the tensor `index` from now on; the model was compiled with
 * --image for that tensor. The model retains it.
 *
 * It is a 2-D image of CL_RGBA texels. A tensor N x C x H x W has the width W, and the height N *
 * ceil(C / 4) * H: below the rows of channels 0 to 3 lie those of channels 4 to 7, below those the
 * next of the N. Of an input, channels that the tensor lacks are ignored, such as a camera's alpha;
 * of an output they are 0. Channels are CL_FLOAT, CL_HALF_FLOAT, or CL_UNORM_INT8, which kernels
 * read as 0 to 1 and write clamped to that; a tensor of halves takes CL_HALF_FLOAT alone. */
clopt_status clopt_bind_image(clopt_model *model, size_t index, cl_mem image);

/* Each inference copies the input `index` from `data`, or the output to it, in the queue's order.
 * `data` stays valid, and an input unchanged, until the queue has got there. Inputs are only read.
 * The first call for a tensor allocates a buffer on the device, or an image, of whose texels `data`
 * has the floats or halves, row by row. */
clopt_status clopt_bind_host(clopt_model *model, size_t index, void *data);

/* Puts one inference on the queue and returns at once.
 *
 * `done`, unless it is NULL, becomes an event that completes with the inference; the caller
 * releases it. After a failure part of the inference may be on the queue.
 */
clopt_status clopt_enqueue(clopt_model *model, cl_event *done);

/* One command of an inference. */
typedef struct clopt_timing {
    const char *kind; /* "kernel", "copy", or the vendor's library that computes it */
    const char *name; /* that of the kernel, of the copy's destination, of the operation */
    cl_ulong start;       /* by the device's clock, in nanoseconds */
    cl_ulong nanoseconds; /* on the device */
} clopt_timing;

/* How many commands an inference has, without the copies from and to the host's memory. */
size_t clopt_command_count(const clopt_model *model);

/* Runs one inference, command by command and never as a replay, and tells how long each took:
 * `timings` has an element for each command. All inputs and outputs are bound. Waits for the
 * device. */
clopt_status clopt_profile(clopt_model *model, clopt_timing *timings, size_t count);

/* Runs one inference in which the vendor's library finds the fastest way for each of its operations
 * on this device, and writes what it found to a file for options.tuning_path: the models created
 * with it are faster, this one stays as it is. All inputs and outputs are bound. This takes seconds
 * to minutes. CLOPT_ARGUMENT for a model without such operations. */
clopt_status clopt_tune(clopt_model *model, const char *path);

/* Writes the built kernels to a file for options.binaries_path. Drivers accept their own alone. */
clopt_status clopt_save_binaries(clopt_model *model, const char *path);

#ifdef __cplusplus
}
#endif

#endif
