/* Recordable queues: commands that are recorded once, and replayed on a queue that executes them.
 *
 * A recorded operation keeps its set, and the memories that this had. Whether a real recording sees
 * what the set gets later is not known, so a replay after that is refused. A recorded kernel is a
 * clone, with the arguments that it had.
 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct command {
    clml_op *op; /* NULL: a kernel */
    clml_set *set;
    cl_mem *memories; /* of the operation's tensors */
    cl_kernel kernel;
    cl_uint dimensions;
    size_t offset[3], global[3], local[3]; /* local[0] 0: the device chooses */
} command;

typedef struct recording {
    clml_object object;
    cl_uint holders; /* of the handle */
    int is_ended, has_ops;
    cl_uint count;
    command *commands;
} recording;

typedef struct recordable {
    struct recordable *next;
    cl_command_queue queue;
    recording *active; /* NULL: none */
} recordable;

static recordable *recordables;

static recordable *find_recordable(cl_command_queue queue) {
    recordable *each = recordables;
    while (each && each->queue != queue) {
        each = each->next;
    }
    return each;
}

int clml_is_recordable(cl_command_queue queue) {
    clml_lock();
    int found = find_recordable(queue) != NULL;
    clml_unlock();
    return found;
}

cl_int clml_add_recordable(cl_command_queue queue) {
    recordable *added = calloc(1, sizeof *added);
    if (!added) {
        return clml_refuse("clCreateCommandQueue", CL_OUT_OF_HOST_MEMORY, "out of memory");
    }
    clml_lock();
    added->queue = queue;
    added->next = recordables;
    recordables = added;
    clml_unlock();
    return CL_SUCCESS;
}

void clml_remove_recordable(cl_command_queue queue) {
    clml_lock();
    for (recordable **link = &recordables; *link; link = &(*link)->next) {
        if ((*link)->queue == queue) {
            recordable *removed = *link;
            *link = removed->next;
            free(removed);
            break;
        }
    }
    clml_unlock();
}

cl_int clml_refuse_recordable(const char *function, cl_command_queue queue) {
    return clml_is_recordable(queue)
               ? clml_refuse(function, CL_INVALID_COMMAND_QUEUE,
                             "a recordable queue takes kernels and operations alone")
               : CL_SUCCESS;
}

cl_uint clml_recording_size(void) {
    const char *text = getenv("CLML_REFERENCE_RECORDING_SIZE");
    return text ? (cl_uint)strtoul(text, NULL, 10) : 256;
}

static void clear(command *cleared) {
    for (cl_uint i = 0; cleared->op && i < cleared->op->tensor_count; i++) {
        clReleaseMemObject(cleared->memories[i]);
    }
    free(cleared->memories);
    clml_drop(cleared->op);
    clml_drop(cleared->set);
    if (cleared->kernel) {
        clReleaseKernel(cleared->kernel);
    }
}

static void destroy(clml_object *object) {
    recording *destroyed = (recording *)object;
    for (recordable *each = recordables; each; each = each->next) {
        if (each->active == destroyed) {
            each->active = NULL;
        }
    }
    for (cl_uint i = 0; i < destroyed->count; i++) {
        clear(&destroyed->commands[i]);
    }
    free(destroyed->commands);
    free(destroyed);
}

/* A zeroed command at the end of the queue's recording, which does not yet count it. */
static cl_int next_command(const char *function, cl_command_queue queue, cl_uint wait_count,
                           const cl_event *event, recording **into, command **made) {
    recording *active = find_recordable(queue)->active;
    if (!active) {
        return clml_refuse(function, CL_INVALID_OPERATION,
                           "the queue is recordable, and no recording was begun");
    }
    if (wait_count || event) {
        return clml_refuse(function, CL_INVALID_EVENT_WAIT_LIST,
                           "recorded commands have no events");
    }
    if (active->count >= clml_recording_size()) {
        return clml_refuse(function, CL_OUT_OF_RESOURCES,
                           "a recording holds at most %u commands",
                           (unsigned)clml_recording_size());
    }
    command *commands = realloc(active->commands, (active->count + 1) * sizeof *commands);
    if (!commands) {
        return clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
    }
    active->commands = commands;
    *into = active;
    *made = memset(&commands[active->count], 0, sizeof *commands);
    return CL_SUCCESS;
}

cl_int clml_record_op(const char *function, cl_command_queue queue, clml_op *op, clml_set *set,
                      cl_uint wait_count, const cl_event *event) {
    recording *into;
    command *made;
    cl_mem memories[CLML_MAX_TENSORS];
    cl_int error = next_command(function, queue, wait_count, event, &into, &made);
    error = error ? error : clml_check_op(function, queue, op, set, 0, NULL, memories);
    if (error != CL_SUCCESS) {
        return error;
    }
    made->memories = malloc(op->tensor_count * sizeof *memories);
    if (!made->memories) {
        return clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
    }
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        made->memories[i] = memories[i];
        clRetainMemObject(memories[i]);
    }
    clml_retain(made->op = op);
    clml_retain(made->set = set);
    into->count++;
    into->has_ops = 1;
    clml_trace(function, "recorded %s", op->name);
    return CL_SUCCESS;
}

cl_int clml_record_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                          const size_t *offset, const size_t *global, const size_t *local,
                          cl_uint wait_count, const cl_event *event) {
    const char *function = "clEnqueueNDRangeKernel";
    recording *into;
    command *made;
    clml_lock();
    cl_int error = next_command(function, queue, wait_count, event, &into, &made);
    if (error == CL_SUCCESS && (dimensions < 1 || dimensions > 3 || !global)) {
        error = clml_refuse(function, CL_INVALID_WORK_DIMENSION, "the launch has no sizes");
    }
    if (error == CL_SUCCESS) {
        made->kernel = clCloneKernel(kernel, &error);
        if (error != CL_SUCCESS) {
            clml_refuse(function, error, "the device cannot clone the kernel to be recorded");
        }
    }
    if (error == CL_SUCCESS) {
        made->dimensions = dimensions;
        for (cl_uint i = 0; i < dimensions; i++) {
            made->offset[i] = offset ? offset[i] : 0;
            made->global[i] = global[i];
            made->local[i] = local ? local[i] : 0;
        }
        into->count++;
    }
    clml_unlock();
    return error;
}

/* Replay. */

/* Whether the set is unchanged since the operation was recorded. */
static cl_int check_unchanged(const char *function, const command *recorded) {
    const clml_op *op = recorded->op;
    for (cl_uint i = 0; op && i < op->tensor_count; i++) {
        if (clml_memory_of(recorded->set, op->tensors[i]) != recorded->memories[i]) {
            return clml_refuse(function, CL_INVALID_OPERATION,
                               "the tensor %s of %s got another memory after it was recorded: "
                               "record anew",
                               op->roles[i], op->name);
        }
    }
    if (op && (op->object.released || recorded->set->object.released)) {
        return clml_refuse(function, CL_INVALID_OPERATION, "%s or its set was released", op->name);
    }
    return CL_SUCCESS;
}

static cl_int replay_command(const char *function, cl_command_queue queue,
                             const command *recorded, cl_uint wait_count, const cl_event *waits,
                             cl_event *event) {
    if (recorded->op) {
        return clml_enqueue(function, queue, recorded->op, recorded->set, wait_count, waits,
                            event);
    }
    cl_int error = clEnqueueNDRangeKernel(
        queue, recorded->kernel, recorded->dimensions, recorded->offset, recorded->global,
        recorded->local[0] ? recorded->local : NULL, wait_count, waits, event);
    return error ? clml_refuse(function, error, "the device refuses a recorded kernel")
                 : CL_SUCCESS;
}

static cl_int replay(const char *function, cl_command_queue queue, const recording *replayed,
                     cl_uint wait_count, const cl_event *waits, cl_event *event) {
    if (!replayed->is_ended || !replayed->count) {
        return clml_refuse(function, CL_INVALID_OPERATION, "the recording %s",
                           replayed->count ? "was not ended" : "is empty");
    }
    cl_int error = clml_refuse_recordable(function, queue);
    for (cl_uint i = 0; i < replayed->count && error == CL_SUCCESS; i++) {
        error = check_unchanged(function, &replayed->commands[i]);
    }
    for (cl_uint i = 0; i < replayed->count && error == CL_SUCCESS; i++) {
        int is_first = i == 0, is_last = i + 1 == replayed->count;
        error = replay_command(function, queue, &replayed->commands[i], is_first ? wait_count : 0,
                               is_first ? waits : NULL, is_last ? event : NULL);
    }
    return error ? error : clml_spoil_onchip(queue);
}

cl_recording_qcom CL_API_CALL clNewRecordingQCOM(cl_command_queue queue, cl_int *error) {
    const char *function = "clNewRecordingQCOM";
    cl_int ignored;
    error = error ? error : &ignored;
    clml_lock();
    recordable *from = find_recordable(queue);
    recording *made = NULL;
    void *handle = NULL;
    if (!from) {
        *error = clml_refuse(function, CL_INVALID_COMMAND_QUEUE,
                             "the queue has no CL_QUEUE_RECORDABLE_QCOM; this library makes such "
                             "queues where it is loaded as a layer, by OPENCL_LAYERS");
    } else if (from->active) {
        *error = clml_refuse(function, CL_INVALID_OPERATION, "the queue has a recording begun");
    } else {
        made = clml_new(CLML_RECORDING, sizeof *made, destroy);
        handle = made ? clml_publish(made) : NULL;
        if (handle) {
            made->holders = 1;
            from->active = made;
            *error = CL_SUCCESS;
        } else {
            clml_drop(made);
            *error = clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
        }
    }
    clml_unlock();
    return handle;
}

cl_int CL_API_CALL clEndRecordingQCOM(cl_recording_qcom handle) {
    const char *function = "clEndRecordingQCOM";
    clml_lock();
    cl_int error = CL_SUCCESS;
    recording *ended = clml_find(function, CLML_RECORDING, handle);
    if (!ended) {
        error = CL_INVALID_VALUE;
    } else if (ended->is_ended) {
        error = clml_refuse(function, CL_INVALID_OPERATION, "the recording was ended before");
    } else {
        ended->is_ended = 1;
        for (recordable *each = recordables; each; each = each->next) {
            if (each->active == ended) {
                each->active = NULL;
            }
        }
        clml_trace(function, "%u commands", (unsigned)ended->count);
    }
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clRetainRecordingQCOM(cl_recording_qcom handle) {
    clml_lock();
    recording *retained = clml_find("clRetainRecordingQCOM", CLML_RECORDING, handle);
    if (retained) {
        retained->holders++;
    }
    clml_unlock();
    return retained ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int CL_API_CALL clReleaseRecordingQCOM(cl_recording_qcom handle) {
    const char *function = "clReleaseRecordingQCOM";
    clml_lock();
    recording *released = clml_find(function, CLML_RECORDING, handle);
    cl_int error = released ? CL_SUCCESS : CL_INVALID_VALUE;
    if (released && --released->holders == 0) {
        error = clml_release(function, CLML_RECORDING, handle);
    }
    clml_unlock();
    return error;
}

/* What the arrays of changes hold is not known for sure. */
static cl_int check_no_changes(const char *function, const size_t *counts, size_t arrays) {
    for (size_t i = 0; i < arrays; i++) {
        if (counts[i]) {
            return clml_refuse(function, CL_INVALID_VALUE,
                               "this library replays what was recorded, without changes");
        }
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueRecordingQCOM(cl_command_queue queue, cl_recording_qcom handle,
                                          size_t arg_count, const cl_array_arg_qcom *args,
                                          size_t offset_count, const cl_offset_qcom *offsets,
                                          size_t global_count, const cl_workgroup_qcom *globals,
                                          size_t local_count, const cl_workgroup_qcom *locals,
                                          cl_uint wait_count, const cl_event *waits,
                                          cl_event *event) {
    const char *function = "clEnqueueRecordingQCOM";
    const size_t counts[] = {arg_count, offset_count, global_count, local_count};
    (void)args;
    (void)offsets;
    (void)globals;
    (void)locals;
    clml_lock();
    const recording *replayed = clml_find(function, CLML_RECORDING, handle);
    cl_int error = replayed ? check_no_changes(function, counts, 4) : CL_INVALID_VALUE;
    if (error == CL_SUCCESS && replayed->has_ops) {
        error = clml_refuse(function, CL_INVALID_OPERATION,
                            "a recording with operations is replayed by "
                            "clEnqueueRecordingMLOpQCOM");
    }
    error = error ? error : replay(function, queue, replayed, wait_count, waits, event);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_enqueue_recording_ml_op(
    cl_command_queue queue, cl_recording_qcom handle, size_t count0, const void *changes0,
    size_t count1, const void *changes1, size_t count2, const void *changes2, size_t count3,
    const void *changes3, size_t count4, const void *changes4, size_t count5,
    const void *changes5, size_t count6, const void *changes6, cl_uint wait_count,
    const cl_event *waits, cl_event *event) {
    const char *function = "clEnqueueRecordingMLOpQCOM";
    const size_t counts[] = {count0, count1, count2, count3, count4, count5, count6};
    (void)changes0;
    (void)changes1;
    (void)changes2;
    (void)changes3;
    (void)changes4;
    (void)changes5;
    (void)changes6;
    clml_lock();
    const recording *replayed = clml_find(function, CLML_RECORDING, handle);
    cl_int error = replayed ? check_no_changes(function, counts, 7) : CL_INVALID_VALUE;
    error = error ? error : replay(function, queue, replayed, wait_count, waits, event);
    clml_unlock();
    return error;
}
