/* Extensions that record, and where programs find the functions of extensions. */
#include "fake_objects.h"

/* Khronos' command buffers */

static cl_command_buffer_khr CL_API_CALL create_command_buffer(
    cl_uint count, const cl_command_queue *queues, const cl_command_buffer_properties_khr *wanted,
    cl_int *error) {
    fake_live(*queues, QUEUE, "clCreateCommandBufferKHR");
    return (cl_command_buffer_khr)fake_create(RECORDING, NULL, error);
}

static cl_int CL_API_CALL command_launch(
    cl_command_buffer_khr buffer, cl_command_queue queue,
    const cl_ndrange_kernel_command_properties_khr *properties, cl_kernel kernel,
    cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local,
    cl_uint waits, const cl_sync_point_khr *wait_list, cl_sync_point_khr *sync_point,
    cl_mutable_command_khr *command) {
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    const launch *what =
        fake_checked_launch(kernel, dimensions, global, local, "clCommandNDRangeKernelKHR");
    return fake_record(fake_live(buffer, RECORDING, "clCommandNDRangeKernelKHR"), what);
}

static cl_int CL_API_CALL finalize_command_buffer(cl_command_buffer_khr buffer) {
    fake_live(buffer, RECORDING, "clFinalizeCommandBufferKHR")->is_ended = 1;
    return fake_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue_command_buffer(cl_uint count, cl_command_queue *queues,
                                                 cl_command_buffer_khr buffer, cl_uint waits,
                                                 const cl_event *wait_list, cl_event *event) {
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    return fake_replay_recording(fake_live(buffer, RECORDING, "clEnqueueCommandBufferKHR"));
}

static cl_int CL_API_CALL release_command_buffer(cl_command_buffer_khr buffer) {
    return fake_release(buffer, RECORDING, "clReleaseCommandBufferKHR");
}

/* Qualcomm's recordings */

static void *CL_API_CALL new_recording(cl_command_queue handle, cl_int *error) {
    const object *queue = fake_live(handle, QUEUE, "clNewRecordingQCOM");
    if (fake_recorder || !(queue->properties & CL_QUEUE_RECORDABLE_QCOM)) {
        fake_fault("a recording has begun, or cannot");
    }
    fake_recorder = fake_create(RECORDING, NULL, error);
    return fake_recorder;
}

static cl_int CL_API_CALL end_recording(void *recording) {
    object *ended = fake_live(recording, RECORDING, "clEndRecordingQCOM");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (ended != fake_recorder || (cl_uint)ended->launch_count > fake.recordable_launches) {
        fake_fault("not the recording that has begun, or too long");
    }
    ended->is_ended = 1;
    fake_recorder = NULL;
    fake_tell("end", "");
    return CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue_recording(cl_command_queue queue, void *recording, size_t a,
                                            const void *arguments, size_t b, const void *offsets,
                                            size_t c, const void *globals, size_t d,
                                            const void *locals, cl_uint waits,
                                            const cl_event *wait_list, cl_event *event) {
    if (a || arguments || b || offsets || c || globals || d || locals || waits ||
        fake_live(queue, QUEUE, "clEnqueueRecordingQCOM")->properties) {
        fake_fault("a replay that changes something, or on the recorder");
    }
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    return fake_replay_recording(fake_live(recording, RECORDING, "clEnqueueRecordingQCOM"));
}

static cl_int CL_API_CALL release_recording(void *recording) {
    if (fake_recorder == recording) {
        fake_recorder = NULL;
    }
    fake_tell("release", "");
    return fake_release(recording, RECORDING, "clReleaseRecordingQCOM");
}

typedef void (*any_function)(void);

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id id, const char *name) {
    static const struct {
        const char *name;
        any_function function;
    } rows[] = {
        {"clCreateCommandBufferKHR", (any_function)create_command_buffer},
        {"clCommandNDRangeKernelKHR", (any_function)command_launch},
        {"clFinalizeCommandBufferKHR", (any_function)finalize_command_buffer},
        {"clEnqueueCommandBufferKHR", (any_function)enqueue_command_buffer},
        {"clReleaseCommandBufferKHR", (any_function)release_command_buffer},
        {"clNewRecordingQCOM", (any_function)new_recording},
        {"clEndRecordingQCOM", (any_function)end_recording},
        {"clEnqueueRecordingQCOM", (any_function)enqueue_recording},
        {"clReleaseRecordingQCOM", (any_function)release_recording},
    };
    void *found = NULL;
    if (!id || fake_fails()) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            memcpy(&found, &rows[i].function, sizeof found);
        }
    }
    any_function clml = fake_clml_function(name);
    if (clml) {
        memcpy(&found, &clml, sizeof found);
    }
    return found;
}
