/* Commands wait for events, give events, and have read the host's data when they return. */
#include "core.h"

static int is_complete(cl_event event) {
    cl_int status = CL_QUEUED;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status == CL_COMPLETE;
}

static int is_after(cl_event first, cl_event second) {
    cl_ulong end = 0, start = 0;
    DO(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    DO(clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    return end <= start;
}

/* Nothing has begun while the gate is closed; afterwards each command follows the one before. */
void test_events(void) {
    const cl_ml_tensor_layout_qcom nchw = CL_TENSOR_LAYOUT_NCHW_QCOM;
    addition sum = make_addition(CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 5);
    cl_ml_tensor_qcom plain = tensor_of(CL_FLOAT, nchw, 1, 5, 1, 1);
    cl_mem memory = buffer_of(20);
    float data[5] = {1, 2, 3, 4, 5}, result[5] = {0};
    cl_int error;
    cl_event gate = clCreateUserEvent(context, &error), events[5], none[1] = {NULL};
    DO(error);
    REFUSED(clml->clEnqueueMLOpQCOM(queue, sum.op, sum.set, 1, none, NULL),
            "event 0 to wait for is NULL");
    DO(clml->clEnqueueWriteMLTensorDataQCOM(queue, data, nchw, sum.tensors[0], sum.memories[0], 1,
                                            &gate, &events[0]));
    for (int i = 0; i < 5; i++) {
        data[i] = 10;
    }
    DO(clml->clEnqueueWriteMLTensorDataQCOM(queue, data, nchw, sum.tensors[1], sum.memories[1], 1,
                                            &events[0], &events[1]));
    data[0] = 1000;
    DO(clml->clEnqueueMLOpQCOM(queue, sum.op, sum.set, 2, events, &events[2]));
    DO(clml->clEnqueueCopyMLTensorDataQCOM(queue, sum.tensors[2], sum.memories[2], plain, memory,
                                           1, &events[2], &events[3]));
    DO(clml->clEnqueueReadMLTensorDataQCOM(queue, plain, memory, result, nchw, 1, &events[3],
                                           &events[4]));
    clFlush(queue);
    for (int i = 0; i < 5; i++) {
        CHECK(!is_complete(events[i]));
    }
    DO(clSetUserEventStatus(gate, CL_COMPLETE));
    DO(clWaitForEvents(1, &events[4]));
    for (int i = 0; i < 5; i++) {
        CHECK(is_complete(events[i]));
        CHECK(i == 0 || is_after(events[i - 1], events[i]));
        CHECK(result[i] == (float)(i + 11));
    }
    for (int i = 0; i < 5; i++) {
        clReleaseEvent(events[i]);
    }
    clReleaseEvent(gate);
    clReleaseMemObject(memory);
    DO(clml->clReleaseMLTensorQCOM(plain));
    release_addition(&sum);
}
