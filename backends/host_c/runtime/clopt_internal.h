/* Declarations shared by the sources of the runtime. */
#ifndef CLOPT_INTERNAL_H
#define CLOPT_INTERNAL_H

#include "clopt_tables.h"

#define CLOPT_MESSAGE_BYTES 1024
#define CLOPT_ALL_ROOTS ((unsigned)-1)

/* The memory object that kernels get for a slot: its image if it has one, else its buffer. Both
 * are retained. */
typedef struct clopt_place {
    cl_mem buffer, image;
} clopt_place;

typedef struct clopt_replay clopt_replay;

/* A command of an inference, in an iteration of the repetition that contains it. */
typedef struct clopt_step {
    unsigned command, iteration;
} clopt_step;

struct clopt_model {
    const clopt_program *program; /* the plan that it runs */
    const clopt_program *package; /* the first plan */
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    size_t base_alignment; /* sub-buffers must start at multiples of this many bytes */
    size_t max_allocation;
    unsigned views; /* CLOPT_VIEWS_...: the views of parts of buffers that work on the device */
    int used_binaries;
    cl_program *programs; /* by source, then by program file */
    cl_kernel *kernels;   /* by command: each launch has its own, with its arguments set */
    cl_mem *roots;
    clopt_place *places; /* by slot */
    int is_placed;       /* 0 if placing failed, so that kernels may have released arguments */
    int are_apart;       /* 0 if bindings have changed since outputs were checked for overlaps */
    cl_mem *staging;     /* by tensor: buffers for tensors that are bound to host memory */
    void **hosts;        /* by tensor: that host memory */
    cl_mem *given;       /* by tensor: the caller's buffer, if inferences copy from or to it */
    unsigned char *staged; /* by tensor: whether a buffer would be given */
    unsigned sizes;      /* the current set of sizes */
    int are_sizes_sent;  /* whether the size inputs have their contents for it */
    clopt_replay *replay; /* NULL unless options.replay is set */
    void *offloaded;      /* the state of the program's offload */
    int is_refused;       /* whether the offload could not be created */
    char message[CLOPT_MESSAGE_BYTES];
    char reason[CLOPT_MESSAGE_BYTES]; /* why the previous plan cannot run, or "" */
};

/* The functions by which the runtime uses a vendor's library. Operations are identified by
 * number, and their commands have arguments like kernels. A function that fails stores a
 * message. */
struct clopt_offload {
    const char *library;

    /* Creates all operations with the newest version of the interface up to `newest` (0: any).
     * `weights` is the weights file, `tuning` a result of `save_tuning` or NULL; both must only
     * live during the call. The created objects are in model->offloaded, even after a failure. */
    clopt_status (*create)(clopt_model *model, int newest, const unsigned char *weights,
                           const unsigned char *tuning, size_t tuning_bytes);
    void (*destroy)(clopt_model *model);

    /* Sets an argument of the operation to `memory`, which the model keeps alive. */
    clopt_status (*place)(clopt_model *model, unsigned operation, unsigned argument,
                          cl_mem memory);

    /* Called before operations are enqueued or recorded, once every argument has its place. */
    clopt_status (*prepare)(clopt_model *model);

    clopt_status (*enqueue)(clopt_model *model, cl_command_queue queue, unsigned operation,
                            cl_event *done);

    /* Returns whether the operation can be recorded on a recordable queue, and its replay
       function. */
    int (*is_recordable)(const clopt_model *model, unsigned operation);
    clopt_status (*replay)(clopt_model *model, void *recording);

    /* Finds the fastest variant of an operation that has just been enqueued, so that its tensors
     * hold their data. The queue has profiling enabled. `save_tuning` returns the results for
     * all operations, malloc'd. */
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

/* Stores a message and returns `status`. */
clopt_status clopt_fail(clopt_model *model, clopt_status status, const char *format, ...)
    CLOPT_PRINTF(3, 4);

/* Does the same after the OpenCL function `call`, applied to `what`, returned `error`. */
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

/* Opens a file made for this model and this driver; its payload starts at byte `start`. Returns
 * 0 if the file is missing, damaged or made for something else. The caller closes it. */
int clopt_open_keyed(clopt_model *model, const char *path, const char *magic, clopt_file *file,
                     size_t *start);

/* Writes such a file with `payload`, either completely or not at all. */
clopt_status clopt_write_keyed(clopt_model *model, const char *path, const char *magic,
                               const unsigned char *payload, size_t bytes);

/* clopt_device.c */

/* Returns a text property of the device or its platform, malloc'd; NULL if out of memory. */
char *clopt_device_text(cl_device_id device, cl_device_info what);
char *clopt_platform_text(cl_device_id device, cl_platform_info what);
int clopt_has_extension(const char *extensions, const char *name);

/* Returns whether a build option makes division and square root of floats correctly rounded. */
int clopt_has_rounding_option(cl_device_id device);

/* Check the queue, and that the device has the features that the model needs. */
clopt_status clopt_check_queue(clopt_model *model);
clopt_status clopt_check_device(clopt_model *model);

/* clopt_build.c */

/* Builds every program, from the binaries at `path` if possible. */
clopt_status clopt_build(clopt_model *model, const char *path);

/* Loads the program files of the package from the folder in the options. */
clopt_status clopt_load_programs(clopt_model *model, const clopt_options *options);

/* Returns the kernel parameter of a command's argument, since scalars may precede it. */
unsigned clopt_position(const clopt_command *command, unsigned argument);

/* Sets the arguments that say where the rows of a launch start in an iteration. */
cl_int clopt_set_rows(cl_kernel kernel, const clopt_command *command, unsigned iteration);

/* Creates the kernel object of every launch. */
clopt_status clopt_make_kernels(clopt_model *model);

/* clopt_memory.c */

/* Creates the buffer or image of a root; `data` are the contents of a constant. */
clopt_status clopt_make_root(clopt_model *model, unsigned root, const void *data);

/* Checks that `buffer` is a buffer of the model's context with at least `bytes` bytes. */
clopt_status clopt_check_buffer(clopt_model *model, const char *what, cl_mem buffer, size_t bytes);

/* Creates the places over `root`, or over every root, again and sets the kernels' arguments to
 * them. After a failure, the next call creates all of them again. */
clopt_status clopt_place_slots(clopt_model *model, unsigned root);
void clopt_release_places(clopt_model *model, unsigned root);

/* Returns whether a slot is a separate image rather than bytes of a buffer. */
int clopt_is_image(const clopt_slot *slot);

/* Return the image of a slot or the buffer that contains it, and its offset, for commands with
   offsets. */
cl_mem clopt_memory_of(const clopt_model *model, const clopt_slot *slot);
size_t clopt_offset_of(const clopt_model *model, const clopt_slot *slot);

/* Creates an image over `buffer`, with the contents of `data`, or neither; `pitch` 0 means no
   gaps. */
cl_mem clopt_create_image(const clopt_model *model, const clopt_image *image, size_t pitch,
                          cl_mem_flags flags, cl_mem buffer, const void *data, cl_int *error);

/* clopt_given_images.c */

/* Checks that `image` can be the input or output `index`. */
clopt_status clopt_check_given_image(clopt_model *model, size_t index, cl_mem image);

/* Copies the texels of an input from host memory, or the texels of an output to it. */
cl_int clopt_transfer_image(clopt_model *model, size_t index);

/* clopt_views.c */

/* Return the views of parts of buffers that the model has, and those of them that work on the
 * device, which a test determines. */
unsigned clopt_needed_views(const clopt_program *program);
unsigned clopt_working_views(const clopt_model *model);

/* clopt_inference.c */

size_t clopt_tensor_count(const clopt_info *info);

/* Returns the root of the first arena; the other arenas follow it. */
unsigned clopt_first_arena(const clopt_model *model);

/* Checks that every tensor and arena has memory, and prepares the offload. */
clopt_status clopt_check_bound(clopt_model *model);

/* Enqueue one command, or the copies of tensors bound to host memory that precede or follow all
 * commands. */
clopt_status clopt_enqueue_command(clopt_model *model, clopt_step step, cl_event *done);

/* Returns the repetition that contains a command, or NULL. */
const clopt_repetition *clopt_repetition_of(const clopt_program *program, unsigned command);

/* Returns the step after `step` in an inference. The first is command 0 in iteration 0; the end is
 * the command after the last. */
clopt_step clopt_next_step(const clopt_program *program, clopt_step step);
clopt_status clopt_enqueue_inputs(clopt_model *model);
clopt_status clopt_enqueue_outputs(clopt_model *model);

/* clopt_sizes.c */

#define CLOPT_MOST_AXES 32

/* Finds the tensors for which inferences copy between their own memory and the caller's buffer. */
void clopt_find_staged(clopt_model *model);

/* Makes the elements of new staging memory valid, of which smaller sizes leave some as they are. */
clopt_status clopt_clear_staging(clopt_model *model, size_t index);

/* Enqueues the contents of the size inputs if the sizes have changed. */
clopt_status clopt_enqueue_sizes(clopt_model *model);

/* Enqueues the copies between a tensor's memory and the caller's. */
cl_int clopt_transfer(clopt_model *model, size_t index);

/* Computes the work-items of a launch for the current sizes. */
void clopt_global_size(const clopt_model *model, const clopt_command *command, size_t global[3]);

/* clopt_replay.c */

/* Enables recording and replaying of inferences if the device supports it. */
clopt_status clopt_start_replay(clopt_model *model);
void clopt_end_replay(clopt_model *model);

/* Drops the recordings, because kernels have new arguments; the next inference is recorded
   again. */
void clopt_forget_recordings(clopt_model *model);

/* Replays the recording that starts at `command` and returns the command after it. Returns
 * `command` itself if there is no recording; then the caller enqueues the command. */
unsigned clopt_replay_from(clopt_model *model, unsigned command, clopt_status *status);

#endif
