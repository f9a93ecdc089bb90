/* Replay: the launches of an inference are recorded once and enqueued as one command.
 *
 * Two extensions provide this: cl_khr_command_buffer, and Qualcomm's cl_qcom_recordable_queues if
 * the headers declare it. Copies are not recorded, because Qualcomm's recordings only hold
 * kernels and revisions of Khronos' extension differ in how copies are recorded; they are enqueued
 * between recordings. A vendor's operations get recordings of their own on Qualcomm's queues: it is
 * not documented whether a recording may contain both operations and kernels. A recording keeps the
 * arguments of its commands, so a change of arguments drops it.
 */
#define CL_ENABLE_BETA_EXTENSIONS
#include "clopt_internal.h"

#include <CL/cl_ext.h>
#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<CL/cl_ext_qcom.h>)
#include <CL/cl_ext_qcom.h>
#endif
#endif

#if defined(CL_QUEUE_RECORDABLE_QCOM) && defined(CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE)
#define HAS_RECORDABLE_QUEUES 1
/* Queried at run time, since loaders rarely export them; a replay never changes arguments. */
typedef void *(CL_API_CALL *new_recording_fn)(cl_command_queue, cl_int *);
typedef cl_int(CL_API_CALL *end_recording_fn)(void *);
typedef cl_int(CL_API_CALL *enqueue_recording_fn)(
    cl_command_queue, void *, size_t, const void *, size_t, const void *, size_t, const void *,
    size_t, const void *, cl_uint, const cl_event *, cl_event *);
#endif

/* Consecutive commands of one kind, from command `first` up to `end`. */
typedef struct clopt_recording {
    clopt_command_kind kind;
    unsigned first, end;
    void *handle;
} clopt_recording;

struct clopt_replay {
    clopt_replay_kind kind;
    cl_command_queue recorder; /* Qualcomm: the queue that launches are recorded on */
    unsigned most_launches;    /* limit for one recording */
    int is_recorded;
    unsigned count;
    clopt_recording *recordings;
    /* Functions of the extension that `kind` names. */
    clopt_status (*record)(clopt_model *model, clopt_recording *recording);
    clopt_status (*enqueue)(clopt_model *model, const clopt_recording *recording);
    void (*release)(const clopt_replay *replay, void *handle);
#ifdef cl_khr_command_buffer
    clCreateCommandBufferKHR_fn create_buffer;
    clCommandNDRangeKernelKHR_fn add_launch;
    clFinalizeCommandBufferKHR_fn finalize_buffer;
    clEnqueueCommandBufferKHR_fn enqueue_buffer;
    clReleaseCommandBufferKHR_fn release_buffer;
#endif
#ifdef HAS_RECORDABLE_QUEUES
    new_recording_fn new_recording;
    end_recording_fn end_recording;
    enqueue_recording_fn enqueue_recording;
    end_recording_fn release_recording;
#endif
};

#if defined(cl_khr_command_buffer) || defined(HAS_RECORDABLE_QUEUES)

/* ISO C cannot convert an object pointer to a function pointer, but POSIX and OpenCL allow it. */
#define FIND(model, member, name) (*(void **)&(member) = find_function(model, name))

static clopt_status fail(clopt_model *model, const char *call, cl_int error) {
    return clopt_fail_opencl(model, call, "the recording of an inference", error);
}

/* Returns a function of an extension, or NULL if the platform does not have it. */
static void *find_function(const clopt_model *model, const char *name) {
    cl_platform_id platform = NULL;
    clGetDeviceInfo(model->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    return clGetExtensionFunctionAddressForPlatform(platform, name);
}

/* Returns the work-group size, or NULL if the driver chooses it. */
static const size_t *local_of(const clopt_command *launch) {
    return launch->local[0] ? launch->local : NULL;
}

#endif

/* Khronos */

#ifdef cl_khr_command_buffer

static int find_command_buffers(const clopt_model *model, clopt_replay *replay) {
    cl_device_command_buffer_capabilities_khr can = 0;
    clGetDeviceInfo(model->device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, sizeof can, &can,
                    NULL);
    /* Inferences may overlap: one is enqueued while the previous one is still running. */
    return (can & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0 &&
           FIND(model, replay->create_buffer, "clCreateCommandBufferKHR") &&
           FIND(model, replay->add_launch, "clCommandNDRangeKernelKHR") &&
           FIND(model, replay->finalize_buffer, "clFinalizeCommandBufferKHR") &&
           FIND(model, replay->enqueue_buffer, "clEnqueueCommandBufferKHR") &&
           FIND(model, replay->release_buffer, "clReleaseCommandBufferKHR");
}

static clopt_status record_buffer(clopt_model *model, clopt_recording *recording) {
    const clopt_replay *replay = model->replay;
    const cl_command_buffer_properties_khr properties[] = {
        CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    cl_int error;
    cl_command_buffer_khr buffer =
        replay->create_buffer(1, &model->queue, properties, &error);
    if (!buffer) {
        return fail(model, "clCreateCommandBufferKHR", error);
    }
    recording->handle = buffer;
    for (unsigned i = recording->first; i < recording->end; i++) {
        const clopt_command *launch = &model->program->commands[i];
        size_t global[3];
        clopt_global_size(model, launch, global);
        error = replay->add_launch(buffer, NULL, NULL, model->kernels[i], launch->dimensions, NULL,
                                   global, local_of(launch), 0, NULL, NULL, NULL);
        if (error != CL_SUCCESS) {
            return fail(model, "clCommandNDRangeKernelKHR", error);
        }
    }
    error = replay->finalize_buffer(buffer);
    return error == CL_SUCCESS ? CLOPT_OK : fail(model, "clFinalizeCommandBufferKHR", error);
}

static clopt_status enqueue_buffer(clopt_model *model, const clopt_recording *recording) {
    cl_int error = model->replay->enqueue_buffer(0, NULL, recording->handle, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLOPT_OK : fail(model, "clEnqueueCommandBufferKHR", error);
}

static void release_buffer(const clopt_replay *replay, void *handle) {
    replay->release_buffer(handle);
}

#endif

/* Qualcomm */

#ifdef HAS_RECORDABLE_QUEUES

static int find_recordable_queue(const clopt_model *model, clopt_replay *replay) {
    cl_uint most = 0;
    cl_int error = CL_SUCCESS;
    clGetDeviceInfo(model->device, CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE, sizeof most, &most, NULL);
    if (most == 0 || !FIND(model, replay->new_recording, "clNewRecordingQCOM") ||
        !FIND(model, replay->end_recording, "clEndRecordingQCOM") ||
        !FIND(model, replay->enqueue_recording, "clEnqueueRecordingQCOM") ||
        !FIND(model, replay->release_recording, "clReleaseRecordingQCOM")) {
        return 0; /* some loaders list the extension but do not forward its functions */
    }
    replay->recorder = clCreateCommandQueue(model->context, model->device,
                                            CL_QUEUE_RECORDABLE_QCOM, &error);
    if (error != CL_SUCCESS) {
        return 0;
    }
    replay->most_launches = most;
    return 1;
}

static clopt_status record_command(clopt_model *model, cl_command_queue recorder, unsigned index) {
    const clopt_command *command = &model->program->commands[index];
    if (command->kind == CLOPT_OFFLOAD) {
        return model->program->offload->enqueue(model, recorder, command->operation, NULL);
    }
    size_t global[3];
    clopt_global_size(model, command, global);
    cl_int error =
        clEnqueueNDRangeKernel(recorder, model->kernels[index], command->dimensions, NULL,
                               global, local_of(command), 0, NULL, NULL);
    return error == CL_SUCCESS ? CLOPT_OK : fail(model, "clEnqueueNDRangeKernel", error);
}

static clopt_status record_on_queue(clopt_model *model, clopt_recording *recording) {
    const clopt_replay *replay = model->replay;
    cl_command_queue recorder = replay->recorder;
    cl_int error;
    recording->handle = replay->new_recording(recorder, &error);
    if (error != CL_SUCCESS) {
        return fail(model, "clNewRecordingQCOM", error);
    }
    for (unsigned i = recording->first; i < recording->end; i++) {
        clopt_status status = record_command(model, recorder, i);
        if (status != CLOPT_OK) {
            return status;
        }
    }
    error = replay->end_recording(recording->handle);
    return error == CL_SUCCESS ? CLOPT_OK : fail(model, "clEndRecordingQCOM", error);
}

static clopt_status enqueue_recording(clopt_model *model, const clopt_recording *recording) {
    if (recording->kind == CLOPT_OFFLOAD) {
        return model->program->offload->replay(model, recording->handle);
    }
    cl_int error = model->replay->enqueue_recording(model->queue, recording->handle, 0, NULL, 0,
                                                    NULL, 0, NULL, 0, NULL, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLOPT_OK : fail(model, "clEnqueueRecordingQCOM", error);
}

static void release_recording(const clopt_replay *replay, void *handle) {
    replay->release_recording(handle);
}

#endif

/* Both */

/* Qualcomm's extension is tried first, because devices with both have supported it for longer. */
static clopt_replay_kind find_kind(const clopt_model *model, clopt_replay *replay) {
    char *extensions = clopt_device_text(model->device, CL_DEVICE_EXTENSIONS);
    clopt_replay_kind kind = CLOPT_NO_REPLAY;
    replay->most_launches = model->program->command_count;
#ifdef cl_khr_command_buffer
    if (extensions && clopt_has_extension(extensions, "cl_khr_command_buffer") &&
        find_command_buffers(model, replay)) {
        kind = CLOPT_COMMAND_BUFFER;
        replay->record = record_buffer;
        replay->enqueue = enqueue_buffer;
        replay->release = release_buffer;
    }
#endif
#ifdef HAS_RECORDABLE_QUEUES
    if (extensions && clopt_has_extension(extensions, "cl_qcom_recordable_queues") &&
        find_recordable_queue(model, replay)) {
        kind = CLOPT_RECORDABLE_QUEUE;
        replay->record = record_on_queue;
        replay->enqueue = enqueue_recording;
        replay->release = release_recording;
    }
#endif
    free(extensions);
    return kind;
}

/* Repeated launches are not: a recording keeps their arguments, which change. */
static int is_recordable(const clopt_model *model, unsigned index) {
    const clopt_command *command = &model->program->commands[index];
    if (clopt_repetition_of(model->program, index)) {
        return 0;
    }
    return command->kind == CLOPT_LAUNCH ||
           (command->kind == CLOPT_OFFLOAD && model->replay->kind == CLOPT_RECORDABLE_QUEUE &&
            model->program->offload->is_recordable(model, command->operation));
}

/* Divides the commands into recordings of consecutive commands of one kind, up to the limit. */
static void divide(const clopt_model *model, clopt_replay *replay) {
    replay->count = 0;
    for (unsigned i = 0; i < model->program->command_count; i++) {
        const clopt_command *command = &model->program->commands[i];
        clopt_recording *last = replay->count ? &replay->recordings[replay->count - 1] : NULL;
        if (!is_recordable(model, i)) {
            continue;
        }
        if (last && last->end == i && last->kind == command->kind &&
            i - last->first < replay->most_launches) {
            last->end = i + 1;
        } else {
            clopt_recording *added = &replay->recordings[replay->count++];
            added->kind = command->kind;
            added->first = i;
            added->end = i + 1;
        }
    }
}

clopt_status clopt_start_replay(clopt_model *model) {
    unsigned commands = model->program->command_count;
    clopt_replay *replay = calloc(1, sizeof *replay);
    clopt_recording *recordings = calloc(commands ? commands : 1, sizeof *recordings);
    if (!replay || !recordings) {
        free(replay);
        free(recordings);
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory for recordings.");
    }
    replay->recordings = recordings;
    model->replay = replay;
    replay->kind = find_kind(model, replay);
    divide(model, replay);
    return CLOPT_OK;
}

void clopt_forget_recordings(clopt_model *model) {
    clopt_replay *replay = model->replay;
    for (unsigned i = 0; replay && i < replay->count; i++) {
        clopt_recording *recording = &replay->recordings[i];
        if (recording->handle) {
            replay->release(replay, recording->handle);
            recording->handle = NULL;
        }
    }
    if (replay) {
        replay->is_recorded = 0;
    }
}

void clopt_end_replay(clopt_model *model) {
    clopt_replay *replay = model->replay;
    if (!replay) {
        return;
    }
    clopt_forget_recordings(model);
    if (replay->recorder) {
        clReleaseCommandQueue(replay->recorder);
    }
    free(replay->recordings);
    free(replay);
    model->replay = NULL;
}

clopt_replay_kind clopt_model_replay(const clopt_model *model) {
    return model && model->replay ? model->replay->kind : CLOPT_NO_REPLAY;
}

/* If recording fails, the model works without it. */
static void record_all(clopt_model *model) {
    clopt_replay *replay = model->replay;
    for (unsigned i = 0; i < replay->count; i++) {
        if (replay->record(model, &replay->recordings[i]) != CLOPT_OK) {
            clopt_forget_recordings(model);
            replay->kind = CLOPT_NO_REPLAY;
            return;
        }
    }
    replay->is_recorded = 1;
}

unsigned clopt_replay_from(clopt_model *model, unsigned command, clopt_status *status) {
    clopt_replay *replay = model->replay;
    *status = CLOPT_OK;
    if (!replay || replay->kind == CLOPT_NO_REPLAY) {
        return command;
    }
    if (!replay->is_recorded) {
        record_all(model);
    }
    for (unsigned i = 0; replay->is_recorded && i < replay->count; i++) {
        if (replay->recordings[i].first == command) {
            *status = replay->enqueue(model, &replay->recordings[i]);
            return replay->recordings[i].end;
        }
    }
    return command;
}
