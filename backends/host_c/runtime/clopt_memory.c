/* Buffers, images, and the views of buffers that kernels get. */
#include "clopt_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t query_size(cl_device_id device, cl_device_info what) {
    size_t value = 0;
    clGetDeviceInfo(device, what, sizeof value, &value, NULL);
    return value;
}

static size_t at_least_one(size_t value) {
    return value ? value : 1;
}

int clopt_is_image(const clopt_slot *slot) {
    return slot->image.kind == CLOPT_IMAGE_2D || slot->image.kind == CLOPT_IMAGE_2D_ARRAY;
}

/* Images */

static cl_mem_object_type object_type(clopt_image_kind kind) {
    switch (kind) {
    case CLOPT_IMAGE_BUFFER:
        return CL_MEM_OBJECT_IMAGE1D_BUFFER;
    case CLOPT_IMAGE_2D_ARRAY:
        return CL_MEM_OBJECT_IMAGE2D_ARRAY;
    default:
        return CL_MEM_OBJECT_IMAGE2D;
    }
}

/* Returns whether the device has images of a kind with RGBA texels of these channels. */
static int has_format(const clopt_model *model, const clopt_image *image, cl_mem_flags flags) {
    cl_uint count = 0;
    cl_mem_object_type type = object_type(image->kind);
    int found = 0;
    clGetSupportedImageFormats(model->context, flags, type, 0, NULL, &count);
    cl_image_format *formats = calloc(at_least_one(count), sizeof *formats);
    if (!formats) {
        return 0;
    }
    clGetSupportedImageFormats(model->context, flags, type, count, formats, NULL);
    for (cl_uint i = 0; i < count; i++) {
        found = found || (formats[i].image_channel_order == CL_RGBA &&
                          formats[i].image_channel_data_type == image->channel);
    }
    free(formats);
    return found;
}

static clopt_status check_image(clopt_model *model, const char *what, const clopt_image *image,
                                cl_mem_flags flags) {
    cl_device_id device = model->device;
    size_t width = query_size(device, CL_DEVICE_IMAGE2D_MAX_WIDTH);
    size_t height = query_size(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    size_t layers = query_size(device, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    if (image->kind == CLOPT_IMAGE_BUFFER) {
        width = query_size(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    }
    if (image->width > width || image->height > height || image->layers > layers) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s is an image of %zu x %zu x %zu texels, but the device allows at most "
                          "%zu x %zu x %zu; compile the model for this device.",
                          what, image->width, image->height, image->layers, width, height, layers);
    }
    if (!has_format(model, image, flags)) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s is an image in a format that the device lacks; compile the "
                          "model with the fact texture=off of its target.",
                          what);
    }
    return CLOPT_OK;
}

/* OpenCL has no empty images, so an empty one gets one texel. */
cl_mem clopt_create_image(const clopt_model *model, const clopt_image *image, size_t pitch,
                          cl_mem_flags flags, cl_mem buffer, const void *data, cl_int *error) {
    cl_image_format format = {CL_RGBA, image->channel};
    cl_image_desc description;
    memset(&description, 0, sizeof description);
    description.image_type = object_type(image->kind);
    description.image_width = at_least_one(image->width);
    description.image_height =
        image->kind == CLOPT_IMAGE_BUFFER ? 0 : at_least_one(image->height);
    description.image_array_size =
        image->kind == CLOPT_IMAGE_2D_ARRAY ? at_least_one(image->layers) : 0;
    description.image_row_pitch = pitch;
    description.buffer = buffer;
    if (data) {
        flags |= CL_MEM_COPY_HOST_PTR;
    }
    return clCreateImage(model->context, flags, &format, &description, (void *)data, error);
}

/* Roots */

static clopt_status check_allocation(clopt_model *model, size_t bytes) {
    if (bytes > model->max_allocation) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s needs %zu bytes in one buffer, but the device allows %zu; compile it "
                          "for smaller inputs or for this device.",
                          model->program->info->name, bytes, model->max_allocation);
    }
    return CLOPT_OK;
}

clopt_status clopt_make_root(clopt_model *model, unsigned index, const void *data) {
    const clopt_root *root = &model->program->roots[index];
    cl_mem_flags flags = root->kind == CLOPT_CONSTANT ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    cl_int error = CL_SUCCESS;
    clopt_status status = check_allocation(model, root->bytes);
    if (status != CLOPT_OK) {
        return status;
    }
    if (root->image.kind != CLOPT_NO_IMAGE) {
        status = check_image(model, "A value of the model", &root->image, flags);
        if (status != CLOPT_OK) {
            return status;
        }
        model->roots[index] =
            clopt_create_image(model, &root->image, 0, flags, NULL, data, &error);
        return error == CL_SUCCESS
                   ? CLOPT_OK
                   : clopt_fail_opencl(model, "clCreateImage", "a value", error);
    }
    if (data) {
        flags |= CL_MEM_COPY_HOST_PTR;
    }
    /* OpenCL has no empty buffers either. */
    model->roots[index] =
        clCreateBuffer(model->context, flags, at_least_one(root->bytes), (void *)data, &error);
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clCreateBuffer", "a value", error);
}

clopt_status clopt_check_buffer(clopt_model *model, const char *what, cl_mem buffer,
                                size_t bytes) {
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    size_t size = 0;
    if (!buffer) {
        return clopt_fail(model, CLOPT_ARGUMENT, "The buffer for %s is a null pointer.", what);
    }
    cl_int error = clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetMemObjectInfo", what, error);
    }
    error = clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (error == CL_SUCCESS) {
        error = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    }
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetMemObjectInfo", what, error);
    }
    if (type != CL_MEM_OBJECT_BUFFER) {
        return clopt_fail(model, CLOPT_BUFFER, "The object given for %s is not a buffer.", what);
    }
    if (context != model->context) {
        return clopt_fail(model, CLOPT_BUFFER,
                          "The buffer for %s belongs to another context than the model.", what);
    }
    if (size < bytes) {
        return clopt_fail(model, CLOPT_BUFFER, "The buffer for %s has %zu bytes, but needs %zu.",
                          what, size, bytes);
    }
    return CLOPT_OK;
}

/* Places: the memory objects that kernels get */

/* Returns whether the device lacks an image that lies over the same bytes as a slot. */
static int is_replaced(const clopt_model *model, const clopt_slot *slot) {
    return (slot->over_parts & ~model->views) != 0;
}

static unsigned root_of(const clopt_model *model, const clopt_slot *slot) {
    return is_replaced(model, slot) ? slot->object : slot->root;
}

size_t clopt_offset_of(const clopt_model *model, const clopt_slot *slot) {
    return is_replaced(model, slot) ? slot->object_offset : slot->offset;
}

/* Creates a sub-buffer of `buffer`, the buffer of a root with `bytes` bytes, from the start of
 * `slot` to the end of the root. If `buffer` is a sub-buffer itself, OpenCL requires its parent.
 * Reaching to the end makes one of any two parts contain the other: NVIDIA's driver (580.159)
 * crashes when it releases parts that overlap partially. */
static clopt_status make_sub_buffer(clopt_model *model, const clopt_slot *slot, cl_mem buffer,
                                    size_t bytes, cl_mem *result) {
    cl_mem parent = NULL;
    size_t start = 0;
    cl_int error = clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent,
                                      NULL);
    if (error == CL_SUCCESS && parent) {
        error = clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof start, &start, NULL);
    }
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetMemObjectInfo", slot->name, error);
    }
    size_t offset = clopt_offset_of(model, slot);
    cl_buffer_region region = {start + offset, bytes - offset};
    if (region.origin % model->base_alignment != 0) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s lies at byte %zu of its buffer, but the device requires multiples of "
                          "%zu; compile the model with image_base_alignment_bytes=%zu.",
                          slot->name, region.origin, model->base_alignment, model->base_alignment);
    }
    *result = clCreateSubBuffer(parent ? parent : buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                &error);
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clCreateSubBuffer", slot->name, error);
}

static clopt_status make_image_view(clopt_model *model, const clopt_slot *slot,
                                    clopt_place *place) {
    const clopt_root *root = &model->program->roots[root_of(model, slot)];
    cl_mem_flags flags = root->kind == CLOPT_CONSTANT ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    cl_int error;
    clopt_status status = check_image(model, slot->name, &slot->image, flags);
    if (status != CLOPT_OK) {
        return status;
    }
    place->image =
        clopt_create_image(model, &slot->image, slot->pitch, flags, place->buffer, NULL, &error);
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clCreateImage", slot->name, error);
}

/* Creates an object on demand, when a value turns out to need it. */
static clopt_status ensure_object(clopt_model *model, unsigned root) {
    int missing = !model->roots[root] && model->program->roots[root].kind == CLOPT_OBJECT;
    return missing ? clopt_make_root(model, root, NULL) : CLOPT_OK;
}

/* Retains `memory` and stores it in `place`. */
static clopt_status share(clopt_model *model, const clopt_slot *slot, cl_mem memory,
                          cl_mem *place) {
    cl_int error = clRetainMemObject(memory);
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clRetainMemObject", slot->name, error);
    }
    *place = memory;
    return CLOPT_OK;
}

/* Fills the place of a slot, unless it is filled or its root is a tensor that is not bound yet. */
static clopt_status make_place(clopt_model *model, unsigned index) {
    const clopt_slot *slot = &model->program->slots[index];
    unsigned root = root_of(model, slot);
    const clopt_root *facts = &model->program->roots[root];
    cl_mem memory = model->roots[root];
    clopt_place *place = &model->places[index];
    clopt_status status = CLOPT_OK;
    if (!memory || place->buffer || place->image) {
        return CLOPT_OK;
    }
    if (facts->image.kind != CLOPT_NO_IMAGE) {
        return share(model, slot, memory, &place->image);
    }
    if (clopt_offset_of(model, slot) == 0) {
        status = share(model, slot, memory, &place->buffer);
    } else {
        status = make_sub_buffer(model, slot, memory, facts->bytes, &place->buffer);
    }
    if (status == CLOPT_OK && slot->image.kind != CLOPT_NO_IMAGE) {
        status = make_image_view(model, slot, place);
    }
    return status;
}

static void release_place(clopt_place *place) {
    if (place->image) {
        clReleaseMemObject(place->image);
    }
    if (place->buffer) {
        clReleaseMemObject(place->buffer);
    }
    place->image = place->buffer = NULL;
}

static int lies_over(const clopt_model *model, unsigned slot, unsigned root) {
    return root == CLOPT_ALL_ROOTS || root_of(model, &model->program->slots[slot]) == root;
}

/* Proceeds from the last offset to the first: NVIDIA's driver (580.159) crashes if a part of a
 * buffer is released before another part inside it. */
void clopt_release_places(clopt_model *model, unsigned root) {
    for (;;) {
        clopt_place *last = NULL;
        size_t at = 0;
        for (unsigned i = 0; i < model->program->slot_count; i++) {
            clopt_place *place = &model->places[i];
            size_t offset = clopt_offset_of(model, &model->program->slots[i]);
            int is_held = place->image != NULL || place->buffer != NULL;
            if (is_held && lies_over(model, i, root) && (!last || offset >= at)) {
                last = place;
                at = offset;
            }
        }
        if (!last) {
            return;
        }
        release_place(last);
    }
}

/* Sets an argument of a kernel or of the offload, which keep it until it is replaced. */
static clopt_status set_argument(clopt_model *model, unsigned command, unsigned argument,
                                 const cl_mem *memory) {
    const clopt_command *facts = &model->program->commands[command];
    if (facts->kind == CLOPT_OFFLOAD) {
        return model->program->offload->place(model, facts->operation, argument, *memory);
    }
    cl_int error = clSetKernelArg(model->kernels[command], clopt_position(facts, argument),
                                  sizeof *memory, memory);
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clSetKernelArg",
                                                   model->program->kernels[facts->kernel].name,
                                                   error);
}

static clopt_status place_argument(clopt_model *model, unsigned command, unsigned argument) {
    const clopt_command *facts = &model->program->commands[command];
    unsigned index = facts->arguments[argument];
    const clopt_slot *slot = &model->program->slots[index];
    clopt_status status = ensure_object(model, root_of(model, slot));
    if (facts->kind == CLOPT_COPY && !clopt_is_image(slot)) {
        return status; /* copies use the whole buffer with an offset, so they need no place */
    }
    if (status == CLOPT_OK) {
        status = make_place(model, index);
    }
    const clopt_place *place = &model->places[index];
    const cl_mem *memory = place->image ? &place->image : &place->buffer;
    if (status != CLOPT_OK || facts->kind == CLOPT_COPY || !*memory) {
        return status;
    }
    return set_argument(model, command, argument, memory);
}

clopt_status clopt_place_slots(clopt_model *model, unsigned root) {
    const clopt_program *program = model->program;
    if (!model->is_placed) {
        root = CLOPT_ALL_ROOTS;
    }
    model->is_placed = 0;
    clopt_forget_recordings(model);
    clopt_release_places(model, root);
    for (unsigned i = 0; i < program->command_count; i++) {
        const clopt_command *command = &program->commands[i];
        for (unsigned j = 0; j < command->argument_count; j++) {
            if (lies_over(model, command->arguments[j], root)) {
                clopt_status status = place_argument(model, i, j);
                if (status != CLOPT_OK) {
                    return status;
                }
            }
        }
    }
    model->is_placed = 1;
    return CLOPT_OK;
}

cl_mem clopt_memory_of(const clopt_model *model, const clopt_slot *slot) {
    return clopt_is_image(slot) ? model->places[slot - model->program->slots].image
                                : model->roots[root_of(model, slot)];
}
