/* Bindings of a model: arenas, a queue, buffers, images and host memory. */
#include "clopt_internal.h"

/* Makes `memory` the root `root`; the model takes over one reference to it. */
static void put_root(clopt_model *model, unsigned root, cl_mem memory) {
    if (model->roots[root]) {
        clReleaseMemObject(model->roots[root]);
    }
    model->roots[root] = memory;
}

static clopt_status retain(clopt_model *model, const char *what, cl_mem memory) {
    cl_int error = clRetainMemObject(memory);
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clRetainMemObject", what, error);
}

/* Checks that kernels can read and write an arena, and that it was not given twice. */
static clopt_status check_arena(clopt_model *model, const cl_mem *arenas, size_t index) {
    cl_mem_flags flags = 0;
    clGetMemObjectInfo(arenas[index], CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    if (flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) {
        return clopt_fail(model, CLOPT_BUFFER, "Kernels cannot both read and write an arena.");
    }
    for (size_t i = 0; i < index; i++) {
        if (arenas[i] == arenas[index]) {
            return clopt_fail(model, CLOPT_BUFFER, "One buffer was given for two arenas.");
        }
    }
    return CLOPT_OK;
}

/* Returns how many arenas suffice for each plan of the package. */
static size_t most_arenas(const clopt_program *package) {
    size_t most = 0;
    for (const clopt_program *plan = package; plan; plan = plan->otherwise) {
        most = plan->info->arena_count > most ? plan->info->arena_count : most;
    }
    return most;
}

static clopt_status check_arenas(clopt_model *model, const cl_mem *arenas, size_t count) {
    const clopt_info *info = model->program->info;
    clopt_status status = CLOPT_OK;
    if (count != info->arena_count && count != most_arenas(model->package)) {
        return clopt_fail(model, CLOPT_ARGUMENT, "%s needs %zu arenas, but %zu were given.",
                          info->name, info->arena_count, count);
    }
    for (size_t i = 0; status == CLOPT_OK && i < info->arena_count; i++) {
        status = clopt_check_buffer(model, "an arena", arenas[i], info->arena_sizes[i]);
        if (status == CLOPT_OK) {
            status = check_arena(model, arenas, i);
        }
    }
    return status;
}

/* Sets every argument. If a device rejects a view in spite of the test, the model uses none. */
static clopt_status place_everything(clopt_model *model) {
    clopt_status status = clopt_place_slots(model, CLOPT_ALL_ROOTS);
    if (status != CLOPT_OK && model->views != 0) {
        clopt_release_places(model, CLOPT_ALL_ROOTS);
        model->views = 0;
        status = clopt_place_slots(model, CLOPT_ALL_ROOTS);
    }
    return status;
}

clopt_status clopt_set_arena(clopt_model *model, const cl_mem *arenas, size_t arena_count) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    unsigned first = clopt_first_arena(model);
    clopt_status status = arenas ? check_arenas(model, arenas, arena_count) : CLOPT_OK;
    if (status != CLOPT_OK) {
        return status;
    }
    for (unsigned i = 0; i < model->program->info->arena_count; i++) {
        if (arenas) {
            status = retain(model, "an arena", arenas[i]);
        }
        put_root(model, first + i, status == CLOPT_OK && arenas ? arenas[i] : NULL);
        if (!arenas) {
            status = clopt_make_root(model, first + i, NULL);
        }
        if (status != CLOPT_OK) {
            return status; /* it has no arena now, so the next inference fails */
        }
    }
    return place_everything(model);
}

clopt_status clopt_set_queue(clopt_model *model, cl_command_queue queue) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    if (!queue) {
        return clopt_fail(model, CLOPT_ARGUMENT, "The queue is a null pointer.");
    }
    cl_command_queue old = model->queue;
    if (queue == old) {
        return CLOPT_OK;
    }
    model->queue = queue;
    clopt_status status = clopt_check_queue(model);
    if (status == CLOPT_OK) {
        cl_int error = clRetainCommandQueue(queue);
        if (error != CL_SUCCESS) {
            status = clopt_fail_opencl(model, "clRetainCommandQueue", "the given queue", error);
        }
    }
    if (status != CLOPT_OK) {
        model->queue = old;
        return status;
    }
    clopt_forget_recordings(model);
    clReleaseCommandQueue(old);
    return CLOPT_OK;
}

static clopt_status check_index(clopt_model *model, size_t index) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    const clopt_info *info = model->program->info;
    if (index >= clopt_tensor_count(info)) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "%s has %zu inputs and outputs, but none with the index %zu.", info->name,
                          clopt_tensor_count(info), index);
    }
    return CLOPT_OK;
}

/* Makes inferences use `buffer`, which the model retains. */
static clopt_status bind(clopt_model *model, size_t index, cl_mem buffer) {
    if (buffer == model->roots[index] && model->is_placed) {
        return CLOPT_OK;
    }
    clopt_status status = retain(model, model->program->info->tensors[index].name, buffer);
    if (status != CLOPT_OK) {
        return status;
    }
    put_root(model, (unsigned)index, buffer);
    model->are_apart = 0;
    status = clopt_place_slots(model, (unsigned)index);
    if (status != CLOPT_OK) {
        put_root(model, (unsigned)index, NULL);
    }
    return status;
}

/* Checks that kernels may write an output (they also read some outputs back), or read an input. */
static clopt_status check_access(clopt_model *model, size_t index, const char *kind,
                                 cl_mem memory) {
    const clopt_info *info = model->program->info;
    int is_output = index >= info->input_count;
    cl_mem_flags flags = 0;
    clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    if (is_output && (flags & CL_MEM_READ_ONLY)) {
        return clopt_fail(model, CLOPT_BUFFER, "Kernels cannot write the %s for the output %s.",
                          kind, info->tensors[index].name);
    }
    if (!is_output && (flags & CL_MEM_WRITE_ONLY)) {
        return clopt_fail(model, CLOPT_BUFFER, "Kernels cannot read the %s for the input %s.",
                          kind, info->tensors[index].name);
    }
    return CLOPT_OK;
}

static int is_image(const clopt_model *model, size_t index) {
    return model->program->roots[index].image.kind != CLOPT_NO_IMAGE;
}

/* Makes inferences copy from or to `buffer`, or to none; the model retains it. */
static clopt_status give(clopt_model *model, size_t index, cl_mem buffer) {
    clopt_status status = CLOPT_OK;
    if (buffer) {
        status = retain(model, model->program->info->tensors[index].name, buffer);
    }
    if (status == CLOPT_OK && model->given[index]) {
        clReleaseMemObject(model->given[index]);
    }
    if (status == CLOPT_OK) {
        model->given[index] = buffer;
    }
    return status;
}

/* Creates device memory for the contents of a tensor that inferences copy. */
static cl_mem make_staging(const clopt_model *model, size_t index, cl_int *error) {
    if (is_image(model, index)) {
        return clopt_create_image(model, &model->program->roots[index].image, 0,
                                  CL_MEM_READ_WRITE, NULL, NULL, error);
    }
    return clCreateBuffer(model->context, CL_MEM_READ_WRITE,
                          model->program->info->tensors[index].bytes, NULL, error);
}

static clopt_status ensure_staging(clopt_model *model, size_t index) {
    cl_int error;
    if (model->staging[index]) {
        return CLOPT_OK;
    }
    model->staging[index] = make_staging(model, index, &error);
    if (!model->staging[index]) {
        return clopt_fail_opencl(model, is_image(model, index) ? "clCreateImage" : "clCreateBuffer",
                                 model->program->info->tensors[index].name, error);
    }
    clopt_status status = clopt_clear_staging(model, index);
    if (status != CLOPT_OK) {
        clReleaseMemObject(model->staging[index]);
        model->staging[index] = NULL; /* the next call tries again */
    }
    return status;
}

/* Binds memory that kernels use in place, or its copy in the tensor's own memory. */
static clopt_status bind_memory(clopt_model *model, size_t index, const char *kind,
                                cl_mem memory) {
    int is_staged = model->staged[index];
    clopt_status status = check_access(model, index, kind, memory);
    if (status == CLOPT_OK && is_staged) {
        status = ensure_staging(model, index);
    }
    if (status == CLOPT_OK) {
        status = bind(model, index, is_staged ? model->staging[index] : memory);
    }
    if (status == CLOPT_OK) {
        status = give(model, index, is_staged ? memory : NULL);
    }
    if (status == CLOPT_OK) {
        model->hosts[index] = NULL;
    }
    return status;
}

clopt_status clopt_bind_buffer(clopt_model *model, size_t index, cl_mem buffer) {
    clopt_status status = check_index(model, index);
    if (status != CLOPT_OK) {
        return status;
    }
    const clopt_tensor *tensor = &model->program->info->tensors[index];
    if (is_image(model, index)) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "%s is an image; call clopt_bind_image, or compile the model without "
                          "--image %s.",
                          tensor->name, tensor->name);
    }
    status = clopt_check_buffer(model, tensor->name, buffer, tensor->bytes);
    return status == CLOPT_OK ? bind_memory(model, index, "buffer", buffer) : status;
}

clopt_status clopt_bind_image(clopt_model *model, size_t index, cl_mem image) {
    clopt_status status = check_index(model, index);
    if (status == CLOPT_OK) {
        status = clopt_check_given_image(model, index, image);
    }
    return status == CLOPT_OK ? bind_memory(model, index, "image", image) : status;
}

clopt_status clopt_bind_host(clopt_model *model, size_t index, void *data) {
    clopt_status status = check_index(model, index);
    if (status != CLOPT_OK) {
        return status;
    }
    const clopt_tensor *tensor = &model->program->info->tensors[index];
    if (tensor->bytes == 0) {
        return CLOPT_OK;
    }
    if (!data) {
        return clopt_fail(model, CLOPT_ARGUMENT, "The memory for %s is a null pointer.",
                          tensor->name);
    }
    status = ensure_staging(model, index);
    if (status == CLOPT_OK) {
        status = bind(model, index, model->staging[index]);
    }
    if (status == CLOPT_OK) {
        status = give(model, index, NULL);
    }
    if (status == CLOPT_OK) {
        model->hosts[index] = data;
    }
    return status;
}
