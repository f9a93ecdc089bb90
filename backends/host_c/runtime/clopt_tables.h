/* The tables that clopt generates for a model, and that the runtime interprets. */
#ifndef CLOPT_TABLES_H
#define CLOPT_TABLES_H

#include "clopt_runtime.h"

/* Changes when tables change: a package's model and runtime must be of the same clopt version. */
#define CLOPT_TABLES_VERSION 5

#define CLOPT_DIGEST_BYTES 16

typedef enum clopt_image_kind {
    CLOPT_NO_IMAGE,
    CLOPT_IMAGE_BUFFER, /* image1d_buffer_t, a view of a buffer */
    CLOPT_IMAGE_2D,
    CLOPT_IMAGE_2D_ARRAY
} clopt_image_kind;

/* An image of RGBA texels. Extents that its kind lacks are 1. */
typedef struct clopt_image {
    clopt_image_kind kind;
    cl_channel_type channel;
    size_t width, height, layers;
} clopt_image;

typedef enum clopt_root_kind {
    CLOPT_PARAMETER, /* a tensor that the caller binds: root i is tensor i */
    CLOPT_ARENA,     /* a buffer that intermediate results share */
    CLOPT_CONSTANT,  /* filled from the weights */
    CLOPT_OBJECT     /* a buffer or image outside of arenas */
} clopt_root_kind;

/* A memory object of the device. */
typedef struct clopt_root {
    clopt_root_kind kind;
    size_t bytes;
    size_t weights_offset; /* CLOPT_CONSTANT: the offset of its bytes in the weights file */
    clopt_image image;     /* CLOPT_NO_IMAGE for a buffer */
} clopt_root;

/* Images over parts of buffers, which not every device supports. */
enum { CLOPT_VIEWS_1D = 1, CLOPT_VIEWS_2D = 2 };

/* A value of the program: a part of a buffer, an image over it, or a whole image. */
typedef struct clopt_slot {
    const char *name;
    unsigned root;
    size_t offset, bytes;
    clopt_image image;
    size_t pitch;        /* bytes from row to row of a 2-D image over an arena */
    unsigned over_parts; /* the views over the same bytes; if the device lacks one of them, */
    unsigned object;     /* the value lies in this root instead, */
    size_t object_offset; /* starting at this byte */
} clopt_slot;

/* A program of the device's compiler: its text as lines. */
typedef struct clopt_source {
    const char *const *lines;
    unsigned line_count;
} clopt_source;

typedef struct clopt_kernel {
    const char *name;
    unsigned source; /* its program: a source, or after those a file of `program_files` */
    unsigned read_images, written_images;
} clopt_kernel;

typedef enum clopt_command_kind { CLOPT_LAUNCH, CLOPT_COPY, CLOPT_OFFLOAD } clopt_command_kind;

/* A scalar argument of a kernel. */
typedef struct clopt_scalar {
    unsigned position; /* its parameter */
    unsigned bytes;    /* 4 or 8 */
    cl_ulong value;
} clopt_scalar;

/* The row of a buffer that a command uses in iteration i of its repetition, at start + step * i. */
typedef struct clopt_row {
    cl_int start; /* the index of its first element in iteration 0; unused by copies */
    cl_int step;  /* in elements; in bytes for copies */
} clopt_row;

/* The work-items for a value v of the ranged dimension: ceil((factor * v + offset) / divisor)
 * times `step`. */
typedef struct clopt_ranged_size {
    unsigned step, factor, offset, divisor;
} clopt_ranged_size;

/* A command on the queue. A copy has two arguments and copies the first to the second. */
typedef struct clopt_command {
    clopt_command_kind kind;
    unsigned kernel;
    unsigned dimensions;
    size_t global[3], local[3]; /* zeros in `local`: the driver chooses */
    const unsigned *arguments; /* slots */
    unsigned argument_count;
    const cl_int *bounds; /* integers after the buffers: iteration counts of the kernel's loops */
    unsigned bound_count;
    const clopt_scalar *scalars; /* scalars between the buffers, in the order of their positions */
    unsigned scalar_count;
    const clopt_row *rows; /* of index arguments after the bounds; or of a copy's two arguments */
    unsigned row_count;
    const clopt_ranged_size *ranged; /* by dimension; NULL: `global` for all sizes */
    unsigned operation; /* CLOPT_OFFLOAD: its number in the program's offload_tables */
} clopt_command;

/* The commands from `first` up to `end` are enqueued `trips` times. */
typedef struct clopt_repetition {
    unsigned first, end, trips;
} clopt_repetition;

/* The vendor's library that computes commands of the kind CLOPT_OFFLOAD. */
typedef struct clopt_offload clopt_offload;

enum {
    CLOPT_NEEDS_FP16 = 1,
    CLOPT_NEEDS_FP64 = 2,
    CLOPT_NEEDS_IMAGES = 4,
    CLOPT_NEEDS_ROUNDING = 8, /* correctly rounded divisions and square roots of floats */
    CLOPT_NEEDS_DOTS = 16, /* dot products of four bytes: cl_khr_integer_dot_product */
    CLOPT_NEEDS_PTX_DOTS = 32 /* the same with NVIDIA's instruction dp4a */
};

struct clopt_program {
    const clopt_info *info;
    unsigned char digest[CLOPT_DIGEST_BYTES]; /* must equal the digest in the weights file */
    unsigned needs;
    size_t image_pitch; /* common divisor of all row pitches in bytes; 0 without 2-D views */
    const clopt_source *sources;
    unsigned source_count;
    const char *const *program_files; /* files of the package with binaries for the device */
    unsigned program_file_count;
    const clopt_kernel *kernels;
    unsigned kernel_count;
    const clopt_root *roots; /* the tensors, then the others */
    unsigned root_count;
    const clopt_slot *slots;
    unsigned slot_count;
    const clopt_command *commands;
    unsigned command_count;
    const clopt_repetition *repetitions; /* in order, apart from each other */
    unsigned repetition_count;
    const size_t *size_dims;   /* the sets of sizes that the program serves, the largest first: */
    const size_t *size_shapes; /* the size of each dimension, the shapes of all tensors, */
    const size_t *size_values; /* the value of the ranged dimension (0: all work-items are needed),
                                  and the offset of the contents of each of the size inputs */
    const size_t *size_offsets;
    unsigned size_count;         /* 0: the model has no open dimensions */
    const unsigned *size_inputs; /* roots whose contents depend on the sizes alone */
    unsigned size_input_count;
    unsigned size_arrays; /* the root that holds their contents for all sizes */
    const char *served;   /* the sizes as text */
    const clopt_offload *offload; /* NULL if there are no such commands */
    const void *offload_tables;   /* the model's tables for that library */
    const char *left_out; /* the library that was excluded from the build of this plan, or NULL */
    const clopt_program *otherwise; /* the plan for devices that cannot run this one, or NULL */
};

#endif
