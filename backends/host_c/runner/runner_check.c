/* Checks of a program's tables. The runtime relies on them without checking, as clopt wrote
   them. */
#include "clopt_runner.h"

#include <limits.h>

/* More would take minutes on any device. Kernels use 32-bit indices. */
static const cl_ulong MOST_WORK_ITEMS = (cl_ulong)1 << 32;

static int is_within(size_t offset, size_t bytes, size_t whole) {
    return offset <= whole && bytes <= whole - offset;
}

/* Multiplies `product` by a factor; returns 0 on overflow. */
static int multiply(size_t *product, size_t factor) {
    if (factor != 0 && *product > (size_t)-1 / factor) {
        return 0;
    }
    *product *= factor;
    return 1;
}

/* Images */

/* Returns the bytes of a texel, or 0 for channels that our kernels never read. */
static size_t texel_bytes(const clopt_image *image) {
    switch (image->channel) {
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return 4;
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
        return 8;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
        return 16;
    default:
        return 0;
    }
}

/* Computes the bytes of an image; a `pitch` of 0 means adjacent rows. Returns 0 if it is
   invalid. */
static int measure_image(const clopt_image *image, size_t pitch, size_t *bytes) {
    size_t texel = texel_bytes(image), row = texel;
    int is_flat = image->kind == CLOPT_IMAGE_BUFFER;
    if (image->kind > CLOPT_IMAGE_2D_ARRAY || texel == 0 || (is_flat && image->height != 1) ||
        (image->kind != CLOPT_IMAGE_2D_ARRAY && image->layers != 1) ||
        !multiply(&row, image->width) || (pitch != 0 && pitch < row)) {
        return 0;
    }
    *bytes = pitch ? pitch : row;
    return multiply(bytes, image->height) && multiply(bytes, image->layers);
}

static int is_same_image(const clopt_image *a, const clopt_image *b) {
    return a->kind == b->kind && a->channel == b->channel && a->width == b->width &&
           a->height == b->height && a->layers == b->layers;
}

/* Tables */

/* Returns whether root i is tensor i, followed by the arenas and then the other roots. */
static int is_root_in_order(const runner_program *program, unsigned index) {
    const clopt_root *root = &program->tables.roots[index];
    const clopt_info *info = &program->info;
    size_t tensors = clopt_tensor_count(info);
    if (index < tensors) {
        return root->kind == CLOPT_PARAMETER && root->bytes == info->tensors[index].bytes;
    }
    if (index - tensors < info->arena_count) {
        return root->kind == CLOPT_ARENA && root->image.kind == CLOPT_NO_IMAGE &&
               root->bytes == info->arena_sizes[index - tensors];
    }
    return root->kind == CLOPT_OBJECT ||
           (root->kind == CLOPT_CONSTANT &&
            is_within(root->weights_offset, root->bytes, program->weights_bytes));
}

static int is_root(const runner_program *program, unsigned index) {
    const clopt_root *root = &program->tables.roots[index];
    size_t bytes = 0;
    if (!is_root_in_order(program, index)) {
        return 0;
    }
    return root->image.kind == CLOPT_NO_IMAGE ||
           (root->image.kind != CLOPT_IMAGE_BUFFER && measure_image(&root->image, 0, &bytes) &&
            bytes <= root->bytes);
}

/* Returns whether a slot is a whole image root, or lies in a buffer with its own image. */
static int lies_in(const clopt_slot *slot, const clopt_root *root, size_t offset) {
    size_t bytes = 0;
    if (root->image.kind != CLOPT_NO_IMAGE) {
        return is_same_image(&slot->image, &root->image);
    }
    if (!is_within(offset, slot->bytes, root->bytes)) {
        return 0;
    }
    return slot->image.kind == CLOPT_NO_IMAGE ||
           (slot->image.kind != CLOPT_IMAGE_2D_ARRAY &&
            measure_image(&slot->image, slot->pitch, &bytes) && bytes <= slot->bytes);
}

static int is_slot(const clopt_program *tables, const clopt_slot *slot) {
    const unsigned views = CLOPT_VIEWS_1D | CLOPT_VIEWS_2D;
    if (slot->root >= tables->root_count || (slot->over_parts & ~views) != 0 ||
        (slot->over_parts & CLOPT_VIEWS_2D && tables->image_pitch == 0)) {
        return 0;
    }
    return lies_in(slot, &tables->roots[slot->root], slot->offset) &&
           (!slot->over_parts ||
            (slot->object < tables->root_count &&
             lies_in(slot, &tables->roots[slot->object], slot->object_offset)));
}

/* Commands */

static int is_copy(const clopt_program *tables, const clopt_command *command) {
    if (command->argument_count != 2) {
        return 0;
    }
    const clopt_slot *from = &tables->slots[command->arguments[0]];
    const clopt_slot *to = &tables->slots[command->arguments[1]];
    size_t bytes = 0;
    if (!clopt_is_image(from) && !clopt_is_image(to)) {
        return from->bytes <= to->bytes;
    }
    if (clopt_is_image(from) && clopt_is_image(to)) {
        return is_same_image(&from->image, &to->image);
    }
    const clopt_slot *image = clopt_is_image(from) ? from : to;
    const clopt_slot *buffer = clopt_is_image(from) ? to : from;
    return measure_image(&image->image, 0, &bytes) && bytes <= buffer->bytes;
}

static int is_launch(const clopt_program *tables, const clopt_command *command) {
    cl_ulong items = 1;
    int chooses = command->local[0] == 0; /* the driver chooses the work-groups */
    if (command->kernel >= tables->kernel_count || command->dimensions < 1 ||
        command->dimensions > 3) {
        return 0;
    }
    for (unsigned i = 0; i < 3; i++) {
        size_t global = command->global[i], local = command->local[i];
        if (global < 1 || global > INT_MAX || items > MOST_WORK_ITEMS / global ||
            (i >= command->dimensions && global != 1) ||
            (chooses ? local != 0 : local == 0 || global % local != 0)) {
            return 0;
        }
        items *= global;
    }
    return 1;
}

static int is_command(const clopt_program *tables, const clopt_command *command) {
    for (unsigned i = 0; i < command->argument_count; i++) {
        if (command->arguments[i] >= tables->slot_count) {
            return 0;
        }
    }
    return command->kind == CLOPT_COPY ? is_copy(tables, command)
                                       : command->kind == CLOPT_LAUNCH && is_launch(tables, command);
}

const char *runner_check(const runner_program *program) {
    const clopt_program *tables = &program->tables;
    const clopt_info *info = &program->info;
    if (tables->image_pitch > INT_MAX) {
        return "The message is no program: its image pitch is too large.";
    }
    if (tables->root_count < clopt_tensor_count(info) + info->arena_count) {
        return "The message is no program: it has fewer roots than tensors and arenas.";
    }
    for (unsigned i = 0; i < tables->kernel_count; i++) {
        if (tables->kernels[i].source >= tables->source_count) {
            return "The message is no program: a kernel has no source.";
        }
    }
    for (unsigned i = 0; i < tables->root_count; i++) {
        if (!is_root(program, i)) {
            return "The message is no program: a root is not one of its tensors, arenas, constants "
                   "or objects.";
        }
    }
    for (unsigned i = 0; i < tables->slot_count; i++) {
        if (!is_slot(tables, &tables->slots[i])) {
            return "The message is no program: a slot lies outside its root.";
        }
    }
    for (unsigned i = 0; i < tables->command_count; i++) {
        if (!is_command(tables, &tables->commands[i])) {
            return "The message is no program: a command is neither a launch nor a copy of slots.";
        }
    }
    return NULL;
}
