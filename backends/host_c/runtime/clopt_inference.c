/* Inference: all commands of the program, in order. */
#include "clopt_internal.h"

size_t clopt_tensor_count(const clopt_info *info) {
    return info->input_count + info->output_count;
}

unsigned clopt_first_arena(const clopt_model *model) {
    return (unsigned)clopt_tensor_count(model->program->info);
}

/* Returns the buffer of which `memory` is a part, or `memory` itself, and the part's byte
   offset. */
static cl_mem whole_of(cl_mem memory, size_t *start) {
    cl_mem whole = NULL;
    *start = 0;
    clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    if (whole) {
        clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof *start, start, NULL);
    }
    return whole ? whole : memory;
}

static int share_bytes(const clopt_model *model, size_t i, size_t j) {
    const clopt_tensor *tensors = model->program->info->tensors;
    size_t first, second;
    return whole_of(model->roots[i], &first) == whole_of(model->roots[j], &second) &&
           first < second + tensors[j].bytes && second < first + tensors[i].bytes;
}

/* Checks that no output shares bytes with another tensor, as kernels may read after writing. */
static clopt_status check_apart(clopt_model *model) {
    const clopt_info *info = model->program->info;
    for (size_t i = info->input_count; i < clopt_tensor_count(info); i++) {
        for (size_t j = 0; j < i; j++) {
            if (share_bytes(model, i, j)) {
                return clopt_fail(model, CLOPT_BUFFER,
                                  "The output %s shares its buffer with the %s %s; bind another.",
                                  info->tensors[i].name, j < info->input_count ? "input" : "output",
                                  info->tensors[j].name);
            }
        }
    }
    model->are_apart = 1;
    return CLOPT_OK;
}

clopt_status clopt_check_bound(clopt_model *model) {
    const clopt_info *info = model->program->info;
    for (size_t i = 0; i < clopt_tensor_count(info); i++) {
        if (!model->roots[i]) {
            return clopt_fail(model, CLOPT_UNBOUND, "The %s %s is not bound.",
                              i < info->input_count ? "input" : "output", info->tensors[i].name);
        }
    }
    for (unsigned i = 0; i < info->arena_count; i++) {
        if (!model->roots[clopt_first_arena(model) + i]) {
            return clopt_fail(model, CLOPT_UNBOUND, "The model has no arena; set one.");
        }
    }
    if (!model->is_placed) {
        return clopt_fail(model, CLOPT_UNBOUND, "A change of a binding failed; repeat it.");
    }
    if (!model->are_apart) {
        clopt_status status = check_apart(model);
        if (status != CLOPT_OK) {
            return status;
        }
    }
    return model->program->offload ? model->program->offload->prepare(model) : CLOPT_OK;
}

static clopt_status enqueue_launch(clopt_model *model, unsigned index, cl_event *done) {
    const clopt_command *command = &model->program->commands[index];
    const size_t *local = command->local[0] ? command->local : NULL;
    cl_int error = clEnqueueNDRangeKernel(model->queue, model->kernels[index], command->dimensions,
                                          NULL, command->global, local, 0, NULL, done);
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clEnqueueNDRangeKernel",
                                                   model->program->kernels[command->kernel].name,
                                                   error);
}

static clopt_status enqueue_copy(clopt_model *model, unsigned index, cl_event *done) {
    const clopt_command *command = &model->program->commands[index];
    const clopt_slot *from = &model->program->slots[command->arguments[0]];
    const clopt_slot *to = &model->program->slots[command->arguments[1]];
    const clopt_slot *image = clopt_is_image(from) ? from : to;
    const size_t origin[3] = {0, 0, 0};
    const size_t region[3] = {image->image.width, image->image.height, image->image.layers};
    cl_mem source = clopt_memory_of(model, from), destination = clopt_memory_of(model, to);
    cl_command_queue queue = model->queue;
    cl_int error;
    if (clopt_is_image(from) && clopt_is_image(to)) {
        error = clEnqueueCopyImage(queue, source, destination, origin, origin, region, 0, NULL,
                                   done);
    } else if (clopt_is_image(from)) {
        error = clEnqueueCopyImageToBuffer(queue, source, destination, origin, region,
                                           clopt_offset_of(model, to), 0, NULL, done);
    } else if (clopt_is_image(to)) {
        error = clEnqueueCopyBufferToImage(queue, source, destination, clopt_offset_of(model, from),
                                           origin, region, 0, NULL, done);
    } else {
        error = clEnqueueCopyBuffer(queue, source, destination, clopt_offset_of(model, from),
                                    clopt_offset_of(model, to), from->bytes, 0, NULL, done);
    }
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "A copy", to->name, error);
}

static clopt_status enqueue_operation(clopt_model *model, unsigned index, cl_event *done) {
    unsigned operation = model->program->commands[index].operation;
    return model->program->offload->enqueue(model, model->queue, operation, done);
}

clopt_status clopt_enqueue_command(clopt_model *model, unsigned index, cl_event *done) {
    static clopt_status (*const enqueue[])(clopt_model *, unsigned, cl_event *) = {
        [CLOPT_LAUNCH] = enqueue_launch,
        [CLOPT_COPY] = enqueue_copy,
        [CLOPT_OFFLOAD] = enqueue_operation,
    };
    return enqueue[model->program->commands[index].kind](model, index, done);
}

/* Enqueues the copies of tensors from `first` up to `end` that are bound to host memory. */
static clopt_status enqueue_transfers(clopt_model *model, size_t first, size_t end) {
    const clopt_info *info = model->program->info;
    cl_int error = CL_SUCCESS;
    for (size_t i = first; i < end; i++) {
        size_t bytes = info->tensors[i].bytes;
        if (!model->hosts[i]) {
            continue;
        }
        if (model->program->roots[i].image.kind != CLOPT_NO_IMAGE) {
            error = clopt_transfer_image(model, i);
        } else if (i < info->input_count) {
            error = clEnqueueWriteBuffer(model->queue, model->roots[i], CL_FALSE, 0, bytes,
                                         model->hosts[i], 0, NULL, NULL);
        } else {
            error = clEnqueueReadBuffer(model->queue, model->roots[i], CL_FALSE, 0, bytes,
                                        model->hosts[i], 0, NULL, NULL);
        }
        if (error != CL_SUCCESS) {
            return clopt_fail_opencl(model, "A transfer", info->tensors[i].name, error);
        }
    }
    return CLOPT_OK;
}

clopt_status clopt_enqueue_inputs(clopt_model *model) {
    return enqueue_transfers(model, 0, model->program->info->input_count);
}

clopt_status clopt_enqueue_outputs(clopt_model *model) {
    const clopt_info *info = model->program->info;
    return enqueue_transfers(model, info->input_count, clopt_tensor_count(info));
}

static clopt_status enqueue_commands(clopt_model *model) {
    clopt_status status = CLOPT_OK;
    unsigned i = 0;
    while (status == CLOPT_OK && i < model->program->command_count) {
        unsigned next = clopt_replay_from(model, i, &status);
        if (next == i) {
            status = clopt_enqueue_command(model, next++, NULL);
        }
        i = next;
    }
    return status;
}

clopt_status clopt_enqueue(clopt_model *model, cl_event *done) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    clopt_status status = clopt_check_bound(model);
    if (status == CLOPT_OK) {
        status = clopt_enqueue_inputs(model);
    }
    if (status == CLOPT_OK) {
        status = enqueue_commands(model);
    }
    if (status == CLOPT_OK) {
        status = clopt_enqueue_outputs(model);
    }
    if (status == CLOPT_OK && done) {
        cl_int error = clEnqueueMarkerWithWaitList(model->queue, 0, NULL, done);
        if (error != CL_SUCCESS) {
            status = clopt_fail_opencl(model, "clEnqueueMarkerWithWaitList", "the end", error);
        }
    }
    return status;
}
