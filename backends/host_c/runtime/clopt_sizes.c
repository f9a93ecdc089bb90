/* Open dimensions: the sizes of a model, and the copies of tensors that are smaller than its own.
 *
 * The program computes the results for the largest sizes. It also computes those for smaller ones,
 * in the leading boxes of its outputs, from the leading boxes of its inputs and from arrays that
 * depend on the sizes. A tensor whose boxes are not used in place has staging memory of the
 * largest size.
 */
#include "clopt_internal.h"

#include <string.h>

/* Queries */

static size_t dim_at(const clopt_program *program, unsigned sizes, size_t dim) {
    return program->size_dims[sizes * program->info->dim_count + dim];
}

static size_t product(const size_t *extents, size_t count) {
    size_t result = 1;
    for (size_t i = 0; i < count; i++) {
        result *= extents[i];
    }
    return result;
}

/* Returns the shape of a tensor for a set of sizes; the sets list the shapes of all tensors. */
static const size_t *shape_at(const clopt_program *program, unsigned sizes, size_t index) {
    const clopt_info *info = program->info;
    size_t start = 0, all = 0;
    if (program->size_count == 0) {
        return info->tensors[index].shape;
    }
    for (size_t i = 0; i < clopt_tensor_count(info); i++) {
        start += i < index ? info->tensors[i].rank : 0;
        all += info->tensors[i].rank;
    }
    return program->size_shapes + sizes * all + start;
}

/* Returns the bytes of an element; an empty tensor is never copied. */
static size_t item_bytes(const clopt_tensor *tensor) {
    size_t count = product(tensor->shape, tensor->rank);
    return count ? tensor->bytes / count : 0;
}

const size_t *clopt_model_shape(const clopt_model *model, size_t index) {
    if (!model || index >= clopt_tensor_count(model->program->info)) {
        return NULL;
    }
    return shape_at(model->program, model->sizes, index);
}

size_t clopt_model_bytes(const clopt_model *model, size_t index) {
    const size_t *shape = clopt_model_shape(model, index);
    if (!model || index >= clopt_tensor_count(model->program->info)) {
        return 0;
    }
    const clopt_tensor *tensor = &model->program->info->tensors[index];
    return model->program->size_count ? product(shape, tensor->rank) * item_bytes(tensor)
                                      : tensor->bytes;
}

/* Sizes */

static clopt_status refuse_size(clopt_model *model, size_t dim, size_t size) {
    const clopt_info *info = model->program->info;
    const clopt_dim *facts = &info->dims[dim];
    if (size < facts->least || size > facts->most) {
        return clopt_fail(model, CLOPT_ARGUMENT, "%s of %s is %zu, but may be from %zu to %zu.",
                          facts->name, info->name, size, facts->least, facts->most);
    }
    return clopt_fail(model, CLOPT_ARGUMENT,
                      "%s has no program for %s=%zu at the sizes of the other dimensions; it "
                      "serves %s.",
                      info->name, facts->name, size, model->program->served);
}

/* Returns the set of sizes in which `dim` has `size` and the others are as in the current set. */
static unsigned find_sizes(const clopt_model *model, size_t dim, size_t size) {
    const clopt_program *program = model->program;
    for (unsigned i = 0; i < program->size_count; i++) {
        int is_wanted = 1;
        for (size_t j = 0; j < program->info->dim_count; j++) {
            size_t wanted = j == dim ? size : dim_at(program, model->sizes, j);
            is_wanted = is_wanted && dim_at(program, i, j) == wanted;
        }
        if (is_wanted) {
            return i;
        }
    }
    return program->size_count;
}

clopt_status clopt_set_dim(clopt_model *model, const char *name, size_t size) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    const clopt_info *info = model->program->info;
    size_t dim = 0;
    while (name && dim < info->dim_count && strcmp(info->dims[dim].name, name) != 0) {
        dim++;
    }
    if (!name || dim == info->dim_count) {
        return clopt_fail(model, CLOPT_ARGUMENT, "%s has no open dimension called %s.", info->name,
                          name ? name : "NULL");
    }
    unsigned found = find_sizes(model, dim, size);
    if (found == model->program->size_count) {
        return refuse_size(model, dim, size);
    }
    if (found != model->sizes) {
        model->sizes = found;
        model->are_sizes_sent = 0;
        clopt_forget_recordings(model);
    }
    return CLOPT_OK;
}

clopt_status clopt_enqueue_sizes(clopt_model *model) {
    const clopt_program *program = model->program;
    if (program->size_count == 0 || model->are_sizes_sent) {
        return CLOPT_OK;
    }
    for (unsigned i = 0; i < program->size_input_count; i++) {
        unsigned root = program->size_inputs[i];
        size_t offset = program->size_offsets[model->sizes * program->size_input_count + i];
        if (!model->roots[root]) {
            continue; /* no command reads it */
        }
        cl_int error =
            clEnqueueCopyBuffer(model->queue, model->roots[program->size_arrays],
                                model->roots[root], offset, 0, program->roots[root].bytes, 0, NULL,
                                NULL);
        if (error != CL_SUCCESS) {
            return clopt_fail_opencl(model, "clEnqueueCopyBuffer", "the sizes", error);
        }
    }
    model->are_sizes_sent = 1;
    return CLOPT_OK;
}

void clopt_global_size(const clopt_model *model, const clopt_command *command, size_t global[3]) {
    const clopt_program *program = model->program;
    size_t value = program->size_count ? program->size_values[model->sizes] : 0;
    memcpy(global, command->global, sizeof command->global);
    for (unsigned i = 0; value && command->ranged && i < command->dimensions; i++) {
        const clopt_ranged_size *size = &command->ranged[i];
        size_t count = size->factor * value + size->offset;
        global[i] = (count + size->divisor - 1) / size->divisor * size->step;
    }
}

/* Boxes */

/* A box of the first elements along each axis of a larger tensor, with as few axes as possible.
 * The extents of the last axis are in bytes. */
typedef struct box {
    unsigned rank;
    size_t small[CLOPT_MOST_AXES], large[CLOPT_MOST_AXES];
} box;

static void add_axis(box *result, size_t small, size_t large) {
    unsigned last = result->rank - 1;
    if (result->rank && (small == large || result->small[last] == 1)) {
        result->small[last] *= small;
        result->large[last] *= large;
    } else {
        result->small[result->rank] = small;
        result->large[result->rank++] = large;
    }
}

/* Fills the box of a tensor; it has no axes if the tensor has no bytes. */
static void make_box(const clopt_program *program, unsigned sizes, size_t index, box *result) {
    const clopt_tensor *tensor = &program->info->tensors[index];
    const size_t *shape = shape_at(program, sizes, index);
    result->rank = 0;
    if (product(shape, tensor->rank) == 0) {
        return;
    }
    for (size_t i = 0; i < tensor->rank; i++) {
        add_axis(result, shape[i], tensor->shape[i]);
    }
    if (result->rank == 0) {
        add_axis(result, 1, 1);
    }
    result->small[result->rank - 1] *= item_bytes(tensor);
    result->large[result->rank - 1] *= item_bytes(tensor);
}

static unsigned char is_staged(const clopt_program *program, size_t index) {
    int is_input = index < program->info->input_count;
    box found;
    for (unsigned i = 0; i < program->size_count; i++) {
        make_box(program, i, index, &found);
        /* Elements beyond the box of an input must be valid, so that the caller's are not used. */
        if (found.rank > 1 || (found.rank && is_input && found.small[0] != found.large[0])) {
            return 1;
        }
    }
    return 0;
}

void clopt_find_staged(clopt_model *model) {
    for (size_t i = 0; i < clopt_tensor_count(model->program->info); i++) {
        model->staged[i] = is_staged(model->program, i);
    }
}

clopt_status clopt_clear_staging(clopt_model *model, size_t index) {
    const clopt_tensor *tensor = &model->program->info->tensors[index];
    const unsigned char zero = 0;
    if (model->program->size_count == 0 || index >= model->program->info->input_count) {
        return CLOPT_OK;
    }
    cl_int error = clEnqueueFillBuffer(model->queue, model->staging[index], &zero, 1, 0,
                                       tensor->bytes, 0, NULL, NULL);
    return error == CL_SUCCESS
               ? CLOPT_OK
               : clopt_fail_opencl(model, "clEnqueueFillBuffer", tensor->name, error);
}

/* Copies contiguous bytes between a tensor's memory and the caller's. */
static cl_int copy_bytes(clopt_model *model, size_t index, size_t bytes) {
    cl_mem memory = model->roots[index], given = model->given[index];
    void *host = model->hosts[index];
    int is_input = index < model->program->info->input_count;
    if (!host) {
        return clEnqueueCopyBuffer(model->queue, is_input ? given : memory,
                                   is_input ? memory : given, 0, 0, bytes, 0, NULL, NULL);
    }
    return is_input ? clEnqueueWriteBuffer(model->queue, memory, CL_FALSE, 0, bytes, host, 0, NULL,
                                           NULL)
                    : clEnqueueReadBuffer(model->queue, memory, CL_FALSE, 0, bytes, host, 0, NULL,
                                          NULL);
}

/* A rectangle in a tensor's memory, or in the caller's. */
typedef struct side {
    size_t origin[3], row_pitch, slice_pitch;
} side;

static cl_int copy_rectangle(clopt_model *model, size_t index, const size_t *region,
                             const side *large, const side *small) {
    cl_mem memory = model->roots[index], given = model->given[index];
    void *host = model->hosts[index];
    int is_input = index < model->program->info->input_count;
    const side *from = is_input ? small : large, *to = is_input ? large : small;
    if (!host) {
        return clEnqueueCopyBufferRect(model->queue, is_input ? given : memory,
                                       is_input ? memory : given, from->origin, to->origin, region,
                                       from->row_pitch, from->slice_pitch, to->row_pitch,
                                       to->slice_pitch, 0, NULL, NULL);
    }
    return is_input
               ? clEnqueueWriteBufferRect(model->queue, memory, CL_FALSE, large->origin,
                                          small->origin, region, large->row_pitch,
                                          large->slice_pitch, small->row_pitch, small->slice_pitch,
                                          host, 0, NULL, NULL)
               : clEnqueueReadBufferRect(model->queue, memory, CL_FALSE, large->origin,
                                         small->origin, region, large->row_pitch,
                                         large->slice_pitch, small->row_pitch, small->slice_pitch,
                                         host, 0, NULL, NULL);
}

/* Returns the rectangles of one side; `number` is the position of the first slice. */
static side side_of(const size_t *extents, size_t number) {
    side result = {{0, 0, number * extents[0]}, extents[2], extents[2] * extents[1]};
    return result;
}

/* Copies all slices: rectangles of the last three axes, one for each index of the others. */
static cl_int copy_slices(clopt_model *model, size_t index, const box *whole) {
    size_t small[3] = {1, 1, 1}, large[3] = {1, 1, 1};
    unsigned last = whole->rank < 3 ? whole->rank : 3, outer = whole->rank - last;
    memcpy(small + 3 - last, whole->small + outer, last * sizeof *small);
    memcpy(large + 3 - last, whole->large + outer, last * sizeof *large);
    const size_t region[3] = {small[2], small[1], small[0]};
    for (size_t i = 0; i < product(whole->small, outer); i++) {
        size_t number = 0, rest = i, step = 1;
        for (unsigned axis = outer; axis-- > 0;) {
            number += rest % whole->small[axis] * step;
            rest /= whole->small[axis];
            step *= whole->large[axis];
        }
        side in_memory = side_of(large, number), outside = side_of(small, i);
        cl_int error = copy_rectangle(model, index, region, &in_memory, &outside);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    return CL_SUCCESS;
}

cl_int clopt_transfer(clopt_model *model, size_t index) {
    box found;
    if (model->program->size_count == 0) {
        return copy_bytes(model, index, model->program->info->tensors[index].bytes);
    }
    make_box(model->program, model->sizes, index, &found);
    if (found.rank == 0) {
        return CL_SUCCESS;
    }
    return found.rank == 1 ? copy_bytes(model, index, found.small[0])
                           : copy_slices(model, index, &found);
}
