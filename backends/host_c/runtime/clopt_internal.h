/* Declarations that the sources of the runtime share. */
#ifndef CLOPT_INTERNAL_H
#define CLOPT_INTERNAL_H

#include "clopt_tables.h"

#define CLOPT_MESSAGE_BYTES 1024
#define CLOPT_ALL_ROOTS ((unsigned)-1)

/* The memory object that kernels get for a slot: its image if it has one, else its buffer. Each is
 * retained. */
typedef struct clopt_place {
    cl_mem buffer, image;
} clopt_place;

typedef struct clopt_replay clopt_replay;

struct clopt_model {
    const clopt_program *program; /* the plan that it runs */
    const clopt_program *package; /* the first plan */
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    size_t base_alignment; /* bytes at multiples of which sub-buffers may start */
    size_t max_allocation;
    unsigned views; /* CLOPT_VIEWS_...: which views of parts of buffers the device has */
    int used_binaries;
    cl_program *programs; /* by source, then by program file */
    cl_kernel *kernels;   /* by command: each launch has its own, with its arguments set */
    cl_mem *roots;
    clopt_place *places; /* by slot */
    int is_placed;       /* 0: kernels may have arguments that are gone, as placing failed */
    int are_apart;       /* 0: the bindings have changed since outputs were compared with others */
    cl_mem *staging;     /* by tensor: buffers for those bound to host memory */
    void **hosts;        /* by tensor: that host memory */
    clopt_replay *replay; /* NULL unless options.replay asks for it */
    void *offloaded;      /* the state of the program's offload */
    int is_refused;       /* the offload could not be created */
    char message[CLOPT_MESSAGE_BYTES];
    char reason[CLOPT_MESSAGE_BYTES]; /* why the plan before was not taken, or "" */
};

/* The functions by which the runtime uses a vendor's library. Operations have numbers, and the
 * arguments of their commands, as kernels have. A function that fails leaves a message. */
struct clopt_offload {
    const char *library;

    /* Makes all operations by the newest version of the interface, at most `newest` unless that is
     * 0. `weights` is the weights file, `tuning` a result of `save_tuning` or NULL; both live as
     * long as the call. Whatever was made is in model->offloaded, after a failure too. */
    clopt_status (*create)(clopt_model *model, int newest, const unsigned char *weights,
                           const unsigned char *tuning, size_t tuning_bytes);
    void (*destroy)(clopt_model *model);

    /* From now on the operation has `memory` as an argument; the model keeps it alive. */
    clopt_status (*place)(clopt_model *model, unsigned operation, unsigned argument,
                          cl_mem memory);

    /* Every argument has its place: called before operations are enqueued or recorded. */
    clopt_status (*prepare)(clopt_model *model);

    clopt_status (*enqueue)(clopt_model *model, cl_command_queue queue, unsigned operation,
                            cl_event *done);

    /* Whether a recordable queue takes the operation, and the function that replays it. */
    int (*is_recordable)(const clopt_model *model, unsigned operation);
    clopt_status (*replay)(clopt_model *model, void *recording);

    /* Finds the fastest way for an operation that has just been enqueued, so its tensors hold their
     * data. The queue has profiling. `save_tuning` returns the result for all, malloc'd. */
    clopt_status (*tune)(clopt_model *model, cl_command_queue queue, unsigned operation);
    clopt_status (*save_tuning)(clopt_model *model, unsigned char **tuning, size_t *bytes);

    const char *(*name_of)(const clopt_model *model, unsigned operation);
    void (*describe)(const clopt_model *model, clopt_offload_info *info);
};

/* clopt_runtime.c */

const char *clopt_plan_name(const clopt_program *program);

/* clopt_messages.c */

#if defined(__GNUC__)
#define CLOPT_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLOPT_PRINTF(text, rest)
#endif

/* Writes the message and returns `status`. */
clopt_status clopt_fail(clopt_model *model, clopt_status status, const char *format, ...)
    CLOPT_PRINTF(3, 4);

/* The same for the call of OpenCL's function `call`, on `what`, that returned `error`. */
clopt_status clopt_fail_opencl(clopt_model *model, const char *call, const char *what,
                               cl_int error);

/* clopt_files.c */

/* A file in memory. */
typedef struct clopt_file {
    const unsigned char *data;
    size_t bytes;
    int mapped;
} clopt_file;

clopt_status clopt_file_open(clopt_model *model, const char *path, clopt_file *file);
void clopt_file_close(clopt_file *file);

/* The CRC-32 of zlib, PNG and IEEE 802.3. */
cl_uint clopt_crc32(const unsigned char *data, size_t bytes);
cl_uint clopt_read_u32(const unsigned char *data);
cl_ulong clopt_read_u64(const unsigned char *data);
void clopt_write_u32(unsigned char *data, cl_uint value);
void clopt_write_u64(unsigned char *data, cl_ulong value);

/* Checks that `file` holds the weights of the model, whole and undamaged. */
clopt_status clopt_check_weights(clopt_model *model, const clopt_file *file);

/* clopt_keyed_files.c */

#define CLOPT_BINARIES "CLOPTBIN"
#define CLOPT_TUNING "CLOPTTUN"

/* Opens a file for this model and this driver, whose payload starts at byte `start`. Returns
 * whether there is one, whole and undamaged; the caller closes it. */
int clopt_open_keyed(clopt_model *model, const char *path, const char *magic, clopt_file *file,
                     size_t *start);

/* Writes one with `payload`; not at all where it cannot be written whole. */
clopt_status clopt_write_keyed(clopt_model *model, const char *path, const char *magic,
                               const unsigned char *payload, size_t bytes);

/* clopt_device.c */

/* A text that the device or its platform says of itself, malloc'd; NULL when out of memory. */
char *clopt_device_text(cl_device_id device, cl_device_info what);
char *clopt_platform_text(cl_device_id device, cl_platform_info what);
int clopt_has_extension(const char *extensions, const char *name);

/* Whether a program can be built to divide and take roots of floats correctly rounded. */
int clopt_has_rounding_option(cl_device_id device);

/* Checks the queue, and that the device has what the model needs. */
clopt_status clopt_check_queue(clopt_model *model);
clopt_status clopt_check_device(clopt_model *model);

/* clopt_build.c */

/* Builds every program, from the binaries at `path` where that works. */
clopt_status clopt_build(clopt_model *model, const char *path);

/* Loads the program files of the package from the folder that the options name. */
clopt_status clopt_load_programs(clopt_model *model, const clopt_options *options);

/* The parameter of the kernel that an argument of a command is: scalars may come before it. */
unsigned clopt_position(const clopt_command *command, unsigned argument);

/* Makes the kernel object of every launch. */
clopt_status clopt_make_kernels(clopt_model *model);

/* clopt_memory.c */

/* Makes the buffer or image of a root; `data` are the contents of a constant. */
clopt_status clopt_make_root(clopt_model *model, unsigned root, const void *data);

/* Checks that `buffer` can be the root `root`, and puts it there. */
clopt_status clopt_check_buffer(clopt_model *model, const char *what, cl_mem buffer, size_t bytes);

/* Makes the places over `root`, or over every root, again and sets the kernels' arguments to them.
 * After a failure it makes all of them again. */
clopt_status clopt_place_slots(clopt_model *model, unsigned root);
void clopt_release_places(clopt_model *model, unsigned root);

/* Whether a slot is an image, and not bytes of a buffer. */
int clopt_is_image(const clopt_slot *slot);

/* The image of a slot, or the buffer it lies in, and where, for commands that take an offset. */
cl_mem clopt_memory_of(const clopt_model *model, const clopt_slot *slot);
size_t clopt_offset_of(const clopt_model *model, const clopt_slot *slot);

/* An image over `buffer`, or with the contents of `data`, or neither; `pitch` 0: no gaps. */
cl_mem clopt_create_image(const clopt_model *model, const clopt_image *image, size_t pitch,
                          cl_mem_flags flags, cl_mem buffer, const void *data, cl_int *error);

/* clopt_given_images.c */

/* Checks that `image` can be the input or output `index`. */
clopt_status clopt_check_given_image(clopt_model *model, size_t index, cl_mem image);

/* Copies the texels of an input from host memory, or those of an output to it. */
cl_int clopt_transfer_image(clopt_model *model, size_t index);

/* clopt_views.c */

/* Which views of parts of buffers the model has, and which of these work on the device, as a test
 * there shows. */
unsigned clopt_needed_views(const clopt_program *program);
unsigned clopt_working_views(const clopt_model *model);

/* clopt_inference.c */

size_t clopt_tensor_count(const clopt_info *info);

/* The root of the first arena; the others follow. */
unsigned clopt_first_arena(const clopt_model *model);

/* Checks that every tensor and arena has its memory, and prepares the offload. */
clopt_status clopt_check_bound(clopt_model *model);

/* Puts a command on the model's queue, and the copies of tensors bound to host memory before and
 * behind all commands. */
clopt_status clopt_enqueue_command(clopt_model *model, unsigned index, cl_event *done);
clopt_status clopt_enqueue_inputs(clopt_model *model);
clopt_status clopt_enqueue_outputs(clopt_model *model);

/* clopt_replay.c */

/* Lets inferences be recorded and replayed where the device can. */
clopt_status clopt_start_replay(clopt_model *model);
void clopt_end_replay(clopt_model *model);

/* Kernels have new arguments: the next inference is recorded anew. */
void clopt_forget_recordings(clopt_model *model);

/* Replays the recording that starts at `command` and returns the command behind it; returns
 * `command` itself if there is none, and the caller enqueues the command. */
unsigned clopt_replay_from(clopt_model *model, unsigned command, clopt_status *status);

#endif
