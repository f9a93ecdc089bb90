/* Two threads, each with a queue of its own, that create, run, release and err. */
#include "core.h"

#include <pthread.h>

static void *work(void *data) {
    cl_command_queue own = clCreateCommandQueue(context, device, 0, NULL);
    const float a = *(const float *)data;
    for (int round = 0; round < 20; round++) {
        const size_t n = (size_t)round % 3 * 4 + 1;
        addition sum = make_addition(round % 2 ? CL_TENSOR_LAYOUT_OPTIMAL_QCOM
                                               : CL_TENSOR_LAYOUT_NCHW_QCOM,
                                     n);
        const cl_ml_tensor_qcom first = sum.tensors[0];
        write_addition(&sum, own, a, (float)round);
        DO(clml->clEnqueueMLOpQCOM(own, sum.op, sum.set, 0, NULL, NULL));
        CHECK(is_addition(&sum, own, n, a + (float)round));
        release_addition(&sum);
        CHECK(clml->clReleaseMLTensorQCOM(first) == CL_INVALID_VALUE);
    }
    clReleaseCommandQueue(own);
    return NULL;
}

void test_threads(void) {
    float values[2] = {100, 200};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &values[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}
