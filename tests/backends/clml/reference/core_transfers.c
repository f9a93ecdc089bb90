/* Writing, copying and reading: every element arrives where it belongs. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIMAL, NCHW, NHWC };

static const cl_ml_tensor_layout_qcom layouts[] = {
    CL_TENSOR_LAYOUT_OPTIMAL_QCOM, CL_TENSOR_LAYOUT_NCHW_QCOM, CL_TENSOR_LAYOUT_NHWC_QCOM};

typedef struct shape {
    size_t n, c, h, w;
} shape;

/* The position of an element, in elements, by the rules of README.md. */
static size_t place_of(int layout, const shape *s, size_t bytes, size_t n, size_t c, size_t h,
                       size_t w) {
    const size_t row = (s->w * 4 * bytes + 63) / 64 * 64 / bytes, blocks = (s->c + 3) / 4;
    switch (layout) {
    case OPTIMAL:
        return ((n * blocks + c / 4) * s->h + h) * row + w * 4 + c % 4;
    case NCHW:
        return ((n * s->c + c) * s->h + h) * s->w + w;
    default:
        return ((n * s->h + h) * s->w + w) * s->c + c;
    }
}

/* Whether `data` in one layout are `expected` in NCHW; all of it, if data are dense. */
static int is_equal(int layout, const shape *s, size_t bytes, const unsigned char *data,
                    const unsigned char *expected) {
    for (size_t n = 0; n < s->n; n++) {
        for (size_t c = 0; c < s->c; c++) {
            for (size_t h = 0; h < s->h; h++) {
                for (size_t w = 0; w < s->w; w++) {
                    if (memcmp(data + bytes * place_of(layout, s, bytes, n, c, h, w),
                               expected + bytes * place_of(NCHW, s, bytes, n, c, h, w), bytes)) {
                        return 0;
                    }
                }
            }
        }
    }
    return 1;
}

/* Elements that differ, and are no NaN. */
static void fill(unsigned char *data, size_t count, cl_channel_type type) {
    for (size_t i = 0; i < count; i++) {
        cl_ushort half = (cl_ushort)(0x0200 + i * 7 % 0x7000);
        float single = (float)i * 0.37f - 5.0f;
        memcpy(data + i * (type == CL_FLOAT ? 4 : 2), type == CL_FLOAT ? (void *)&single : &half,
               type == CL_FLOAT ? 4 : 2);
    }
}

enum { ROOM = 32768 };

/* From the host to a tensor in one layout, to one in another, and back in NCHW and NHWC. */
static void round_trip(cl_channel_type type, const shape *s, int first, int second) {
    static unsigned char data[ROOM], back[ROOM], raw[ROOM];
    const size_t bytes = type == CL_FLOAT ? 4 : 2, count = s->n * s->c * s->h * s->w;
    cl_ml_tensor_qcom a = tensor_of(type, layouts[first], s->n, s->c, s->h, s->w);
    cl_ml_tensor_qcom b = tensor_of(type, layouts[second], s->n, s->c, s->h, s->w);
    cl_mem memory_a = buffer_of(ROOM), memory_b = buffer_of(ROOM);
    cl_event event;
    fill(data, count, type);
    DO(clml->clEnqueueWriteMLTensorDataQCOM(queue, data, layouts[NCHW], a, memory_a, 0, NULL,
                                            NULL));
    DO(clml->clEnqueueCopyMLTensorDataQCOM(queue, a, memory_a, b, memory_b, 0, NULL, NULL));
    for (int host = NCHW; host <= NHWC; host++) {
        memset(back, 0xFF, sizeof back);
        DO(clml->clEnqueueReadMLTensorDataQCOM(queue, b, memory_b, back, layouts[host], 0, NULL,
                                               &event));
        DO(clWaitForEvents(1, &event));
        clReleaseEvent(event);
        CHECK(is_equal(host, s, bytes, back, data));
        CHECK(back[count * bytes] == 0xFF);
    }
    /* Other kernels see the bytes themselves. */
    DO(clEnqueueReadBuffer(queue, memory_b, CL_TRUE, 0, ROOM, raw, 0, NULL, NULL));
    CHECK(is_equal(second, s, bytes, raw, data));
    DO(clml->clEnqueueWriteMLTensorDataQCOM(queue, back, layouts[NHWC], a, memory_a, 0, NULL,
                                            NULL));
    DO(clEnqueueReadBuffer(queue, memory_a, CL_TRUE, 0, ROOM, raw, 0, NULL, NULL));
    CHECK(is_equal(first, s, bytes, raw, data));
    DO(clml->clReleaseMLTensorQCOM(a));
    DO(clml->clReleaseMLTensorQCOM(b));
    clReleaseMemObject(memory_a);
    clReleaseMemObject(memory_b);
}

static void test_misuse(void) {
    const cl_ml_tensor_layout_qcom nchw = layouts[NCHW];
    cl_ml_tensor_qcom a = tensor_of(CL_FLOAT, layouts[OPTIMAL], 1, 4, 2, 2);
    cl_ml_tensor_qcom b = tensor_of(CL_FLOAT, nchw, 1, 4, 2, 2);
    cl_ml_tensor_qcom half = tensor_of(CL_HALF_FLOAT, nchw, 1, 4, 2, 2);
    cl_ml_tensor_qcom flat = tensor_of(CL_FLOAT, nchw, 1, 16, 1, 1);
    cl_ml_tensor_qcom unused = unused_tensor(), gone = tensor_of(CL_FLOAT, nchw, 1, 4, 2, 2);
    cl_mem large = buffer_of(1024), small = buffer_of(64), other = buffer_of(1024);
    cl_command_queue unordered =
        clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    float data[64] = {0};
    DO(clml->clReleaseMLTensorQCOM(gone));
#define WRITE clml->clEnqueueWriteMLTensorDataQCOM
#define READ clml->clEnqueueReadMLTensorDataQCOM
#define COPY clml->clEnqueueCopyMLTensorDataQCOM
    REFUSED(WRITE(queue, NULL, nchw, b, large, 0, NULL, NULL), "the host's data are NULL");
    REFUSED(WRITE(queue, data, layouts[OPTIMAL], b, large, 0, NULL, NULL), "NCHW or NHWC");
    REFUSED(WRITE(queue, data, nchw, NULL, large, 0, NULL, NULL), "the tensor is NULL");
    REFUSED(WRITE(queue, data, nchw, gone, large, 0, NULL, NULL), "the tensor was released");
    REFUSED(WRITE(queue, data, nchw, unused, large, 0, NULL, NULL), "unused");
    REFUSED(WRITE(queue, data, nchw, b, NULL, 0, NULL, NULL), "the memory of the tensor is NULL");
    REFUSED(WRITE(queue, data, nchw, a, small, 0, NULL, NULL),
            "has 64 bytes, but 1x4x2x2 float OPTIMAL takes 128");
    REFUSED(WRITE(NULL, data, nchw, b, large, 0, NULL, NULL), "queue");
    REFUSED(WRITE(queue, data, nchw, b, large, 1, NULL, NULL), "1 events to wait for, but no list");
    if (unordered) { /* not every device has such queues */
        REFUSED(WRITE(unordered, data, nchw, b, large, 0, NULL, NULL), "must execute in order");
        clReleaseCommandQueue(unordered);
    }
    REFUSED(READ(queue, a, large, data, nchw, 0, NULL, NULL), "nothing has written it");
    REFUSED(READ(queue, b, large, NULL, nchw, 0, NULL, NULL), "the host's data are NULL");
    REFUSED(COPY(queue, a, large, b, small, 0, NULL, NULL), "nothing has written it");
    DO(WRITE(queue, data, nchw, a, large, 0, NULL, NULL));
    REFUSED(COPY(queue, a, large, b, large, 0, NULL, NULL), "memory in common");
    REFUSED(COPY(queue, b, large, half, other, 0, NULL, NULL), "types and sizes must agree");
    REFUSED(COPY(queue, b, large, flat, other, 0, NULL, NULL), "types and sizes must agree");
    REFUSED(COPY(queue, b, large, unused, other, 0, NULL, NULL), "the target is unused");
    DO(COPY(queue, a, large, b, other, 0, NULL, NULL));
    clFinish(queue);
    DO(clml->clReleaseMLTensorQCOM(a));
    DO(clml->clReleaseMLTensorQCOM(b));
    DO(clml->clReleaseMLTensorQCOM(half));
    DO(clml->clReleaseMLTensorQCOM(flat));
    DO(clml->clReleaseMLTensorQCOM(unused));
    clReleaseMemObject(large);
    clReleaseMemObject(small);
    clReleaseMemObject(other);
}

void test_transfers(void) {
    const shape shapes[] = {{1, 1, 1, 1}, {1, 3, 5, 7}, {2, 5, 3, 4}, {1, 9, 2, 17}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int first = 0; first < 3; first++) {
            for (int second = 0; second < 3; second++) {
                round_trip(CL_FLOAT, &shapes[i], first, second);
            }
        }
        round_trip(CL_HALF_FLOAT, &shapes[i], OPTIMAL, NHWC);
    }
    test_misuse();
}
