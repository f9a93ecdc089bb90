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

const clopt_repetition *clopt_repetition_of(const clopt_program *program, unsigned command) {
    for (unsigned i = 0; i < program->repetition_count; i++) {
        const clopt_repetition *repetition = &program->repetitions[i];
        if (repetition->first <= command && command < repetition->end) {
            return repetition;
        }
    }
    return NULL;
}

clopt_step clopt_next_step(const clopt_program *program, clopt_step step) {
    const clopt_repetition *repetition = clopt_repetition_of(program, step.command);
    step.command++;
    if (repetition && step.command == repetition->end) {
        step.iteration++;
        if (step.iteration < repetition->trips) {
            step.command = repetition->first;
        } else {
            step.iteration = 0;
        }
    }
    return step;
}

static clopt_status enqueue_launch(clopt_model *model, clopt_step step, cl_event *done) {
    const clopt_command *command = &model->program->commands[step.command];
    const size_t *local = command->local[0] ? command->local : NULL;
    size_t global[3];
    cl_kernel kernel = model->kernels[step.command];
    cl_int error = clopt_set_rows(kernel, command, step.iteration);
    clopt_global_size(model, command, global);
    if (error == CL_SUCCESS) {
        error = clEnqueueNDRangeKernel(model->queue, kernel, command->dimensions, NULL,
                                       global, local, 0, NULL, done);
    }
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clEnqueueNDRangeKernel",
                                                   model->program->kernels[command->kernel].name,
                                                   error);
}

/* Returns the offset of an argument of a copy in an iteration. */
static size_t copied_at(const clopt_model *model, const clopt_command *command, unsigned argument,
                        unsigned iteration) {
    const clopt_slot *slot = &model->program->slots[command->arguments[argument]];
    cl_long moved = command->row_count ? (cl_long)command->rows[argument].step * iteration : 0;
    return (size_t)((cl_long)clopt_offset_of(model, slot) + moved);
}

static clopt_status enqueue_copy(clopt_model *model, clopt_step step, cl_event *done) {
    const clopt_command *command = &model->program->commands[step.command];
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
        error = clEnqueueCopyBuffer(queue, source, destination,
                                    copied_at(model, command, 0, step.iteration),
                                    copied_at(model, command, 1, step.iteration), from->bytes, 0,
                                    NULL, done);
    }
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "A copy", to->name, error);
}

static clopt_status enqueue_operation(clopt_model *model, clopt_step step, cl_event *done) {
    unsigned operation = model->program->commands[step.command].operation;
    return model->program->offload->enqueue(model, model->queue, operation, done);
}

clopt_status clopt_enqueue_command(clopt_model *model, clopt_step step, cl_event *done) {
    static clopt_status (*const enqueue[])(clopt_model *, clopt_step, cl_event *) = {
        [CLOPT_LAUNCH] = enqueue_launch,
        [CLOPT_COPY] = enqueue_copy,
        [CLOPT_OFFLOAD] = enqueue_operation,
    };
    return enqueue[model->program->commands[step.command].kind](model, step, done);
}

/* Enqueues the copies of tensors from `first` up to `end` from or to the caller's memory. */
static clopt_status enqueue_transfers(clopt_model *model, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        int is_image = model->program->roots[i].image.kind != CLOPT_NO_IMAGE;
        if (!model->hosts[i] && !model->given[i]) {
            continue;
        }
        cl_int error = is_image ? clopt_transfer_image(model, i) : clopt_transfer(model, i);
        if (error != CL_SUCCESS) {
            return clopt_fail_opencl(model, "A transfer", model->program->info->tensors[i].name,
                                     error);
        }
    }
    return CLOPT_OK;
}

clopt_status clopt_enqueue_inputs(clopt_model *model) {
    clopt_status status = clopt_enqueue_sizes(model);
    return status == CLOPT_OK ? enqueue_transfers(model, 0, model->program->info->input_count)
                              : status;
}

clopt_status clopt_enqueue_outputs(clopt_model *model) {
    const clopt_info *info = model->program->info;
    return enqueue_transfers(model, info->input_count, clopt_tensor_count(info));
}

static clopt_status enqueue_commands(clopt_model *model) {
    clopt_status status = CLOPT_OK;
    clopt_step step = {0, 0};
    while (status == CLOPT_OK && step.command < model->program->command_count) {
        unsigned next = clopt_replay_from(model, step.command, &status);
        if (next == step.command) {
            status = clopt_enqueue_command(model, step, NULL);
            step = clopt_next_step(model->program, step);
        } else {
            step.command = next;
        }
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
