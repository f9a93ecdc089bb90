/* Timing of each command of an inference, and tuning of operations. */
#include "clopt_internal.h"

#include <stdlib.h>

size_t clopt_command_count(const clopt_model *model) {
    return model ? model->program->command_count : 0;
}

static void describe(const clopt_model *model, const clopt_command *command,
                     clopt_timing *timing) {
    const clopt_program *program = model->program;
    switch (command->kind) {
    case CLOPT_LAUNCH:
        timing->kind = "kernel";
        timing->name = program->kernels[command->kernel].name;
        break;
    case CLOPT_COPY:
        timing->kind = "copy";
        timing->name = program->slots[command->arguments[1]].name;
        break;
    default:
        timing->kind = program->offload->library;
        timing->name = program->offload->name_of(model, command->operation);
    }
}

/* Replaces the model's queue, which has finished, by a queue with profiling. */
static clopt_status begin(clopt_model *model, cl_command_queue *own) {
    cl_int error = clFinish(model->queue);
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clFinish", "the queue", error);
    }
    cl_command_queue queue =
        clCreateCommandQueue(model->context, model->device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (!queue) {
        return clopt_fail_opencl(model, "clCreateCommandQueue", "a queue with profiling", error);
    }
    *own = model->queue;
    model->queue = queue;
    return CLOPT_OK;
}

static clopt_status end(clopt_model *model, cl_command_queue own, clopt_status status) {
    cl_int error = clFinish(model->queue);
    clReleaseCommandQueue(model->queue);
    model->queue = own;
    return status != CLOPT_OK || error == CL_SUCCESS
               ? status
               : clopt_fail_opencl(model, "clFinish", "the queue with profiling", error);
}

static clopt_status read_time(clopt_model *model, cl_event event, clopt_timing *timing) {
    cl_ulong start = 0, stop = 0;
    cl_int error =
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (error == CL_SUCCESS) {
        error =
            clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof stop, &stop, NULL);
    }
    timing->start = start;
    timing->nanoseconds = stop > start ? stop - start : 0;
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_fail_opencl(model, "clGetEventProfilingInfo", timing->name,
                                                   error);
}

/* Returns how many commands reach the queue, those of a repetition in each iteration. */
static size_t count_steps(const clopt_program *program) {
    size_t count = 0;
    for (clopt_step step = {0, 0}; step.command < program->command_count;
         step = clopt_next_step(program, step)) {
        count++;
    }
    return count;
}

static clopt_status run_with_events(clopt_model *model, cl_event *events) {
    clopt_status status = clopt_enqueue_inputs(model);
    for (clopt_step step = {0, 0};
         status == CLOPT_OK && step.command < model->program->command_count;
         step = clopt_next_step(model->program, step)) {
        status = clopt_enqueue_command(model, step, events++);
    }
    return status == CLOPT_OK ? clopt_enqueue_outputs(model) : status;
}

/* Describes the commands; the time of a repeated one is the sum over its iterations. */
static clopt_status read_times(clopt_model *model, const cl_event *events, clopt_timing *timings) {
    const clopt_program *program = model->program;
    clopt_status status = CLOPT_OK;
    for (clopt_step step = {0, 0}; status == CLOPT_OK && step.command < program->command_count;
         step = clopt_next_step(program, step)) {
        clopt_timing *timing = &timings[step.command], one;
        describe(model, &program->commands[step.command], &one);
        status = read_time(model, *events++, &one);
        if (step.iteration) {
            timing->nanoseconds += one.nanoseconds;
        } else {
            *timing = one;
        }
    }
    return status;
}

static clopt_status profile(clopt_model *model, cl_event *events, clopt_timing *timings) {
    const clopt_program *program = model->program;
    cl_command_queue own = NULL;
    clopt_status status = begin(model, &own);
    if (status != CLOPT_OK) {
        return status;
    }
    status = end(model, own, run_with_events(model, events));
    if (status == CLOPT_OK) {
        status = read_times(model, events, timings);
    }
    for (size_t i = 0, count = count_steps(program); i < count; i++) {
        if (events[i]) {
            clReleaseEvent(events[i]);
        }
    }
    return status;
}

clopt_status clopt_profile(clopt_model *model, clopt_timing *timings, size_t count) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    size_t needed = clopt_command_count(model);
    if (count < needed || (needed > 0 && !timings)) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "An inference has %zu commands, but there is room for only %zu times.",
                          needed, timings ? count : 0);
    }
    clopt_status status = clopt_check_bound(model);
    if (status != CLOPT_OK) {
        return status;
    }
    cl_event *events = calloc(count_steps(model->program) + 1, sizeof *events);
    if (!events) {
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory for events.");
    }
    status = profile(model, events, timings);
    free(events);
    return status;
}

/* Runs an inference and tunes every operation on its actual data. */
static clopt_status tune_all(clopt_model *model) {
    const clopt_program *program = model->program;
    clopt_status status = clopt_enqueue_inputs(model);
    for (clopt_step step = {0, 0}; status == CLOPT_OK && step.command < program->command_count;
         step = clopt_next_step(program, step)) {
        const clopt_command *command = &program->commands[step.command];
        status = clopt_enqueue_command(model, step, NULL);
        if (status == CLOPT_OK && command->kind == CLOPT_OFFLOAD) {
            status = program->offload->tune(model, model->queue, command->operation);
        }
    }
    return status == CLOPT_OK ? clopt_enqueue_outputs(model) : status;
}

clopt_status clopt_tune(clopt_model *model, const char *path) {
    unsigned char *tuning = NULL;
    size_t bytes = 0;
    cl_command_queue own = NULL;
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    const clopt_offload *offload = model->program->offload;
    if (!path) {
        return clopt_fail(model, CLOPT_ARGUMENT, "The path for the tuning is a null pointer.");
    }
    if (!offload) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "%s has no operations of a vendor's library, so nothing to tune.",
                          model->program->info->name);
    }
    clopt_status status = clopt_check_bound(model);
    if (status == CLOPT_OK) {
        status = begin(model, &own);
    }
    if (status == CLOPT_OK) {
        status = end(model, own, tune_all(model));
    }
    if (status == CLOPT_OK) {
        status = offload->save_tuning(model, &tuning, &bytes);
    }
    if (status == CLOPT_OK) {
        status = clopt_write_keyed(model, path, CLOPT_TUNING, tuning, bytes);
    }
    free(tuning);
    return status;
}
