/* Recordable queues, which the library makes where it is a layer. */
#include "core.h"

#include <string.h>

static cl_recording_qcom begin(cl_command_queue recorder) {
    cl_int error;
    cl_recording_qcom recording = clNewRecordingQCOM(recorder, &error);
    DO(error);
    return recording;
}

static cl_int record(cl_command_queue recorder, const addition *sum) {
    return clml->clEnqueueMLOpQCOM(recorder, sum->op, sum->set, 0, NULL, NULL);
}

static cl_int replay(cl_recording_qcom recording, size_t changes, cl_event *event) {
    return clml->clEnqueueRecordingMLOpQCOM(queue, recording, 0, NULL, 0, NULL, 0, NULL, changes,
                                            NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, event);
}

static cl_int replay_kernels(cl_recording_qcom recording, size_t changes) {
    return clEnqueueRecordingQCOM(queue, recording, changes, NULL, 0, NULL, 0, NULL, 0, NULL, 0,
                                  NULL, NULL);
}

static void test_ops(cl_command_queue recorder) {
    addition sum = make_addition(CL_TENSOR_LAYOUT_NCHW_QCOM, 6);
    cl_event event;
    cl_mem other = buffer_of(24);
    cl_recording_qcom recording = begin(recorder);
    write_addition(&sum, queue, 1, 2);
    DO(record(queue, &sum));
    DO(record(recorder, &sum));
    write_addition(&sum, queue, 3, 4);
    CHECK(is_addition(&sum, queue, 6, 3)); /* recording computes nothing */
    REFUSED(replay(recording, 0, NULL), "was not ended");
    DO(clEndRecordingQCOM(recording));
    REFUSED(clEndRecordingQCOM(recording), "was ended before");
    REFUSED(record(recorder, &sum), "no recording was begun");
    DO(replay(recording, 0, &event));
    DO(clWaitForEvents(1, &event));
    clReleaseEvent(event);
    CHECK(is_addition(&sum, queue, 6, 7));
    write_addition(&sum, queue, 5, 6);
    DO(replay(recording, 0, NULL));
    CHECK(is_addition(&sum, queue, 6, 11));
    REFUSED(replay(recording, 1, NULL), "without changes");
    REFUSED(replay_kernels(recording, 0), "clEnqueueRecordingMLOpQCOM");
    sum.descs[0].memory = other;
    DO(clml->clUpdateMLTensorMemoryDescriptorSetQCOM(sum.set, 3, sum.descs));
    REFUSED(replay(recording, 0, NULL), "the tensor A of clCreateMLOpBinaryQCOM got another");
    sum.descs[0].memory = sum.memories[0];
    DO(clml->clUpdateMLTensorMemoryDescriptorSetQCOM(sum.set, 3, sum.descs));
    DO(replay(recording, 0, NULL));
    DO(clRetainRecordingQCOM(recording));
    DO(clReleaseRecordingQCOM(recording));
    release_addition(&sum);
    REFUSED(replay(recording, 0, NULL), "was released");
    DO(clReleaseRecordingQCOM(recording));
    REFUSED(clReleaseRecordingQCOM(recording), "the recording was released");
    REFUSED(replay(recording, 0, NULL), "the recording was released");
    clReleaseMemObject(other);
}

static void test_misuse(cl_command_queue recorder) {
    addition sum = make_addition(CL_TENSOR_LAYOUT_NCHW_QCOM, 6);
    cl_int error;
    cl_event event = NULL;
    float data[6] = {0};
    CHECK(!clNewRecordingQCOM(queue, &error));
    REFUSED(error, "CL_QUEUE_RECORDABLE_QCOM");
    write_addition(&sum, queue, 1, 2);
    cl_recording_qcom recording = begin(recorder);
    CHECK(!clNewRecordingQCOM(recorder, &error));
    REFUSED(error, "has a recording begun");
    REFUSED(clml->clEnqueueMLOpQCOM(recorder, sum.op, sum.set, 0, NULL, &event), "no events");
    REFUSED(clml->clEnqueueWriteMLTensorDataQCOM(recorder, data, CL_TENSOR_LAYOUT_NCHW_QCOM,
                                                 sum.tensors[0], sum.memories[0], 0, NULL, NULL),
            "kernels and operations alone");
    REFUSED(clEnqueueReadBuffer(recorder, sum.memories[0], CL_TRUE, 0, 24, data, 0, NULL, NULL),
            "clEnqueueReadBuffer");
    REFUSED(clEnqueueWriteBuffer(recorder, sum.memories[0], CL_TRUE, 0, 24, data, 0, NULL, NULL),
            "clEnqueueWriteBuffer");
    REFUSED(clEnqueueFillBuffer(recorder, sum.memories[0], data, 4, 0, 24, 0, NULL, NULL),
            "clEnqueueFillBuffer");
    REFUSED(clEnqueueCopyBuffer(recorder, sum.memories[0], sum.memories[1], 0, 0, 24, 0, NULL,
                                NULL),
            "clEnqueueCopyBuffer");
    for (int i = 0; i < 3; i++) { /* CLML_REFERENCE_RECORDING_SIZE */
        DO(record(recorder, &sum));
    }
    REFUSED(record(recorder, &sum), "a recording holds at most 3 commands");
    /* Released before its end: the queue can record anew. */
    DO(clReleaseRecordingQCOM(recording));
    recording = begin(recorder);
    DO(clEndRecordingQCOM(recording));
    REFUSED(replay(recording, 0, NULL), "is empty");
    DO(clReleaseRecordingQCOM(recording));
    recording = begin(recorder);
    DO(record(recorder, &sum));
    DO(clEndRecordingQCOM(recording));
    REFUSED(clml->clEnqueueRecordingMLOpQCOM(recorder, recording, 0, NULL, 0, NULL, 0, NULL, 0,
                                             NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL),
            "kernels and operations alone");
    DO(clReleaseRecordingQCOM(recording));
    release_addition(&sum);
}

/* A recorded kernel keeps the arguments that it had. */
static void test_kernels(cl_command_queue recorder) {
    const char *source =
        "kernel void scale(global float *x, float by) { x[get_global_id(0)] *= by; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    DO(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    cl_mem memory = buffer_of(16);
    float by = 3, data[4] = {1, 2, 3, 4}, result[4] = {0};
    const size_t global = 4, two = 2;
    DO(clSetKernelArg(kernel, 0, sizeof memory, &memory));
    DO(clSetKernelArg(kernel, 1, sizeof by, &by));
    cl_recording_qcom recording = begin(recorder);
    DO(clEnqueueNDRangeKernel(recorder, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    by = 5;
    DO(clSetKernelArg(kernel, 1, sizeof by, &by));
    DO(clEnqueueNDRangeKernel(recorder, kernel, 1, &two, &two, &two, 0, NULL, NULL));
    REFUSED(clEnqueueNDRangeKernel(recorder, kernel, 4, NULL, &global, NULL, 0, NULL, NULL),
            "no sizes");
    DO(clEndRecordingQCOM(recording));
    by = 7;
    DO(clSetKernelArg(kernel, 1, sizeof by, &by));
    DO(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, 16, data, 0, NULL, NULL));
    DO(replay_kernels(recording, 0));
    DO(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 16, result, 0, NULL, NULL));
    CHECK(result[0] == 3 && result[1] == 6 && result[2] == 45 && result[3] == 60);
    REFUSED(replay_kernels(recording, 1), "without changes");
    DO(replay(recording, 0, NULL)); /* operations and kernels may be mixed, or not */
    DO(clReleaseRecordingQCOM(recording));
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(memory);
}

static cl_mem onchip_of(size_t offset, size_t bytes, cl_int *error) {
    const cl_mem_properties properties[] = {CL_MEM_ONCHIP_GLOBAL_QCOM, 1,
                                            CL_MEM_ONCHIP_GLOBAL_OFFSET_QCOM, offset, 0};
    return clCreateBufferWithProperties(context, properties, CL_MEM_READ_WRITE, bytes, NULL,
                                        error);
}

/* On-chip tensors keep their data within a recording and lose them after it. */
static void test_onchip(cl_command_queue recorder) {
    addition first = make_addition(CL_TENSOR_LAYOUT_NCHW_QCOM, 6);
    addition second = make_addition(CL_TENSOR_LAYOUT_NCHW_QCOM, 6);
    cl_ml_op_qcom op;
    cl_ml_tensor_mem_desc_set_qcom set;
    cl_int error;
    float left[6];
    cl_mem memory = onchip_of(4096, 24, &error);
    DO(error);
    CHECK(!onchip_of(1 << 20, 1, &error));
    REFUSED(error, "on-chip memory");
    DO(add(first.tensors[2], second.tensors[1], second.tensors[2], &op));
    cl_ml_tensor_memory_desc_qcom descs[5] = {first.descs[0], first.descs[1], first.descs[2],
                                              second.descs[1], second.descs[2]};
    descs[2].memory = memory;
    DO(clml->clCreateMLTensorMemoryDescriptorSetQCOM(&set));
    DO(clml->clUpdateMLTensorMemoryDescriptorSetQCOM(set, 5, descs));
    cl_recording_qcom recording = begin(recorder);
    DO(clml->clEnqueueMLOpQCOM(recorder, first.op, set, 0, NULL, NULL));
    DO(clml->clEnqueueMLOpQCOM(recorder, op, set, 0, NULL, NULL));
    DO(clEndRecordingQCOM(recording));
    write_addition(&first, queue, 1, 2);
    write_addition(&second, queue, 0, 30);
    DO(replay(recording, 0, NULL));
    CHECK(is_addition(&second, queue, 6, 33));
    DO(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 24, left, 0, NULL, NULL));
    for (int i = 0; i < 6; i++) {
        CHECK(left[i] != left[i]);
    }
    DO(clReleaseRecordingQCOM(recording));
    DO(clml->clReleaseMLOpQCOM(op));
    DO(clml->clReleaseMLTensorMemoryDescriptorSetQCOM(set));
    release_addition(&first);
    release_addition(&second);
    clReleaseMemObject(memory);
}

void test_recordings(void) {
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_RECORDABLE_QCOM, 0};
    cl_int error;
    cl_command_queue recorder =
        clCreateCommandQueue(context, device, CL_QUEUE_RECORDABLE_QCOM, &error);
    DO(error);
    test_ops(recorder);
    test_misuse(recorder);
    clReleaseCommandQueue(recorder);
    recorder = clCreateCommandQueueWithProperties(context, device, properties, &error);
    DO(error);
    test_kernels(recorder);
    test_onchip(recorder);
    clRetainCommandQueue(recorder);
    clReleaseCommandQueue(recorder);
    DO(clReleaseRecordingQCOM(begin(recorder))); /* recordable as long as it lives */
    clReleaseCommandQueue(recorder);
}
