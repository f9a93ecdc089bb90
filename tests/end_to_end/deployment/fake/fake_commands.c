/* The commands that queues get and record. */
#include "fake_objects.h"

object *fake_recorder;

static cl_int complete(cl_event *event) {
    if (event) {
        *event = (cl_event)fake_make(EVENT, NULL);
    }
    return CL_SUCCESS;
}

static object *memory_at(const launch *what, int index) {
    object *memory;
    memcpy(&memory, what->arguments[index].value, sizeof memory);
    return memory;
}

/* Arguments have no gaps and are alive; kernels do not retain them. */
static void check_launch(const launch *what) {
    if (!what->kernel) {
        return;
    }
    int last = MOST_ARGUMENTS - 1;
    while (last >= 0 && !what->arguments[last].bytes) {
        last--;
    }
    for (int i = 0; i <= last; i++) {
        if (!what->arguments[i].bytes) {
            fake_fault("an argument was not set");
        } else if (what->arguments[i].bytes == sizeof(cl_mem)) {
            fake_live(memory_at(what, i), MEMORY, "an argument of a launch");
        }
    }
}

/* The two kernels of the runtime's own trial of images over buffers. */
static void execute_trial(const launch *what, const size_t *range) {
    static float first;
    if (strcmp(what->kernel->name, "paint") == 0) {
        memcpy(&first, what->arguments[1].value, sizeof first);
    } else if (strcmp(what->kernel->name, "scan") == 0 && fake.views_work) {
        float *texels = (float *)(void *)memory_at(what, 1)->data;
        for (size_t i = 0; i < range[0] * range[1]; i++) {
            float x = (float)(i % range[0]), y = (float)(i / range[0]);
            float texel[4] = {first + x, y, first, 1.0f};
            memcpy(texels + 4 * i, texel, sizeof texel);
        }
    }
}

cl_int fake_record(object *recording, const launch *what) {
    if (recording->launch_count == MOST_LAUNCHES || recording->is_ended) {
        fake_fault("a recording is full or has ended");
        return CL_OUT_OF_RESOURCES;
    }
    recording->launches = __real_realloc(
        recording->launches, (size_t)(recording->launch_count + 1) * sizeof *what);
    recording->launches[recording->launch_count++] = *what;
    fake_tell("record", what->kernel ? what->kernel->name : what->name);
    return CL_SUCCESS;
}

cl_int fake_replay_recording(const object *recording) {
    if (!recording->is_ended) {
        fake_fault("a recording that has not ended is replayed");
    }
    for (int i = 0; i < recording->launch_count; i++) {
        check_launch(&recording->launches[i]);
        const launch *what = &recording->launches[i];
        fake_tell("replay", what->kernel ? what->kernel->name : what->name);
    }
    return CL_SUCCESS;
}

size_t fake_memory_bytes(cl_mem handle, const char *call) {
    const object *memory = fake_live(handle, MEMORY, call);
    return memory ? memory->bytes : 0;
}

cl_int fake_command(cl_command_queue handle, const char *word, const char *name, cl_event *event) {
    const object *queue = fake_live(handle, QUEUE, name);
    launch what;
    if (!(queue->properties & CL_QUEUE_RECORDABLE_QCOM)) {
        fake_tell(word, name);
        return complete(event);
    }
    if (!fake_recorder) {
        fake_fault("nothing is being recorded");
        return CL_INVALID_OPERATION;
    }
    memset(&what, 0, sizeof what);
    snprintf(what.name, sizeof what.name, "%s", name);
    return fake_record(fake_recorder, &what);
}

cl_int fake_replay(cl_command_queue queue, void *recording) {
    fake_live(queue, QUEUE, "a replay");
    return fake_replay_recording(fake_live(recording, RECORDING, "a replay"));
}

static void check_range(cl_uint dimensions, const size_t *global, const size_t *local) {
    for (cl_uint i = 0; i < dimensions; i++) {
        if (!global[i] || (local && (!local[i] || global[i] % local[i]))) {
            fake_fault("no valid range of a launch");
        }
    }
}

const launch *fake_checked_launch(cl_kernel kernel, cl_uint dimensions, const size_t *global,
                                  const size_t *local, const char *call) {
    const launch *what = &fake_live(kernel, KERNEL, call)->state;
    check_range(dimensions, global, local);
    check_launch(what);
    return what;
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue handle, cl_kernel kernel,
                                          cl_uint dimensions, const size_t *offset,
                                          const size_t *global, const size_t *local, cl_uint waits,
                                          const cl_event *wait_list, cl_event *event) {
    object *queue = fake_live(handle, QUEUE, "clEnqueueNDRangeKernel");
    const launch *what =
        fake_checked_launch(kernel, dimensions, global, local, "clEnqueueNDRangeKernel");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (queue->properties & CL_QUEUE_RECORDABLE_QCOM) {
        if (!fake_recorder) {
            fake_fault("nothing is being recorded");
            return CL_INVALID_OPERATION;
        }
        return fake_record(fake_recorder, what);
    }
    execute_trial(what, global);
    fake_tell("launch", what->kernel->name);
    return complete(event);
}

/* The bytes of a transfer, or NULL. */
static unsigned char *bytes_of(cl_command_queue queue, cl_mem handle, size_t offset, size_t bytes,
                               const char *call) {
    object *memory = fake_live(handle, MEMORY, call);
    fake_live(queue, QUEUE, call);
    if (offset + bytes > memory->bytes) {
        fake_fault("a transfer out of bounds");
        return NULL;
    }
    return memory->data + offset;
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t bytes, void *data, cl_uint waits,
                                       const cl_event *wait_list, cl_event *event) {
    const unsigned char *source = bytes_of(queue, buffer, offset, bytes, "clEnqueueReadBuffer");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(data, source, bytes);
    fake_tell("read", "");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t bytes, const void *data,
                                        cl_uint waits, const cl_event *wait_list,
                                        cl_event *event) {
    unsigned char *target = bytes_of(queue, buffer, offset, bytes, "clEnqueueWriteBuffer");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(target, data, bytes);
    fake_tell("write", "");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                       size_t from_offset, size_t to_offset, size_t bytes,
                                       cl_uint waits, const cl_event *wait_list, cl_event *event) {
    const unsigned char *source = bytes_of(queue, from, from_offset, bytes, "clEnqueueCopyBuffer");
    unsigned char *target = bytes_of(queue, to, to_offset, bytes, "clEnqueueCopyBuffer");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(target, source, bytes);
    fake_tell("copy", "");
    return complete(event);
}

static cl_int copy_image(cl_command_queue queue, cl_mem image, const size_t *region, cl_mem other,
                         size_t offset, cl_event *event) {
    object *memory = fake_live(image, MEMORY, "a copy of an image");
    size_t bytes = memory->bytes / memory->extents[0] / memory->extents[1] / memory->extents[2];
    for (int i = 0; i < 3; i++) {
        bytes *= region[i];
        if (!region[i] || region[i] > memory->extents[i]) {
            fake_fault("a copy beyond an image");
        }
    }
    bytes_of(queue, other, offset, bytes, "a copy of an image");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    fake_tell("copy", "image");
    return complete(event);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                      const size_t *from_origin, const size_t *to_origin,
                                      const size_t *region, cl_uint waits,
                                      const cl_event *wait_list, cl_event *event) {
    return copy_image(queue, from, region, to, 0, event);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                              const size_t *origin, const size_t *region,
                                              size_t offset, cl_uint waits,
                                              const cl_event *wait_list, cl_event *event) {
    return copy_image(queue, from, region, to, offset, event);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                              size_t offset, const size_t *origin,
                                              const size_t *region, cl_uint waits,
                                              const cl_event *wait_list, cl_event *event) {
    return copy_image(queue, to, region, from, offset, event);
}

/* The bytes of an image that a transfer takes whole, as those of our runtime do. */
static unsigned char *whole_image(cl_command_queue queue, cl_mem image, const size_t *region,
                                  const char *call) {
    object *memory = fake_live(image, MEMORY, call);
    if (memcmp(region, memory->extents, sizeof memory->extents) != 0) {
        fake_fault("a transfer of a part of an image");
    }
    return bytes_of(queue, image, 0, memory->bytes, call);
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const size_t *origin, const size_t *region, size_t pitch,
                                      size_t slice, void *data, cl_uint waits,
                                      const cl_event *wait_list, cl_event *event) {
    const unsigned char *source = whole_image(queue, image, region, "clEnqueueReadImage");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(data, source, ((object *)image)->bytes);
    fake_tell("read", "image");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       const size_t *origin, const size_t *region, size_t pitch,
                                       size_t slice, const void *data, cl_uint waits,
                                       const cl_event *wait_list, cl_event *event) {
    unsigned char *target = whole_image(queue, image, region, "clEnqueueWriteImage");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(target, data, ((object *)image)->bytes);
    fake_tell("write", "image");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits,
                                               const cl_event *wait_list, cl_event *event) {
    cl_int error;
    fake_live(queue, QUEUE, "clEnqueueMarkerWithWaitList");
    *event = (cl_event)fake_create(EVENT, NULL, &error);
    return error;
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
    fake_live(queue, QUEUE, "clFinish");
    return fake_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t bytes,
                                           void *result, size_t *needed) {
    fake_live(event, EVENT, "clGetEventProfilingInfo");
    return ANSWER(cl_ulong, what == CL_PROFILING_COMMAND_START ? 100 : 107);
}

RELEASE(clReleaseEvent, cl_event, EVENT)
