/* Memories of tensors, and operations on queues. */
#include "core.h"

static cl_int enqueue(const addition *sum) {
    return clml->clEnqueueMLOpQCOM(queue, sum->op, sum->set, 0, NULL, NULL);
}

static cl_int update(const addition *sum, cl_uint count) {
    return clml->clUpdateMLTensorMemoryDescriptorSetQCOM(sum->set, count, sum->descs);
}

static cl_mem image_of(void) {
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    return clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, NULL);
}

static void test_updates(void) {
    addition sum = make_addition(CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 4);
    cl_mem small = buffer_of(4), image = image_of();
    cl_context elsewhere = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_mem foreign = clCreateBuffer(elsewhere, CL_MEM_READ_WRITE, 1024, NULL, NULL);
    cl_ml_tensor_qcom unused = unused_tensor();
    addition changed = sum;
    REFUSED(enqueue(&sum), "A (1x4x1x1 float OPTIMAL)");
    CHECK(enqueue(&sum) == CL_INVALID_OPERATION);
    write_addition(&sum, queue, 1, 2);
    DO(enqueue(&sum));
    CHECK(is_addition(&sum, queue, 4, 3));
    REFUSED(update(&sum, 0), "there are no entries");
    REFUSED(clml->clUpdateMLTensorMemoryDescriptorSetQCOM(sum.set, 3, NULL), "no entries");
    changed.descs[1].tensor = changed.descs[0].tensor;
    REFUSED(update(&changed, 3), "entry 1, 1x4x1x1 float OPTIMAL, is there twice");
    changed.descs[1] = sum.descs[1];
    changed.descs[2].tensor = unused;
    REFUSED(update(&changed, 3), "entry 2 is an unused tensor");
    changed.descs[2].tensor = sum.tensors[2];
    changed.descs[2].memory = small;
    REFUSED(update(&changed, 3), "has 4 bytes, but 1x4x1x1 float OPTIMAL takes 64");
    changed.descs[2].memory = foreign;
    REFUSED(update(&changed, 3), "another context");
    changed.descs[2].memory = NULL;
    REFUSED(update(&changed, 3), "is NULL");
    if (image) {
        changed.descs[2].memory = image;
        REFUSED(update(&changed, 3), "is no buffer");
        clReleaseMemObject(image);
    }
    DO(enqueue(&sum)); /* refused calls changed nothing */
    DO(update(&sum, 2));
    REFUSED(enqueue(&sum), "the set has no memory for the tensor C");
    changed.descs[2].memory = sum.memories[1];
    DO(update(&changed, 3));
    REFUSED(enqueue(&sum), "memory in common");
    DO(clml->clReleaseMLTensorQCOM(unused));
    clReleaseMemObject(small);
    clReleaseMemObject(foreign);
    clReleaseContext(elsewhere);
    release_addition(&sum);
}

/* Rebinding, memories that are larger than need be, parts of one buffer. */
static void test_accepted(void) {
    addition sum = make_addition(CL_TENSOR_LAYOUT_NCHW_QCOM, 4);
    cl_mem arena = buffer_of(4096), kept[3];
    write_addition(&sum, queue, 4, 5);
    DO(enqueue(&sum));
    CHECK(is_addition(&sum, queue, 4, 9));
    for (int i = 0; i < 3; i++) {
        cl_buffer_region region = {(size_t)i * 1024, 512};
        kept[i] = sum.memories[i];
        sum.memories[i] = sum.descs[i].memory = clCreateSubBuffer(
            arena, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    }
    DO(update(&sum, 3));
    write_addition(&sum, queue, 6, 7);
    DO(enqueue(&sum));
    CHECK(is_addition(&sum, queue, 4, 13));
    for (int i = 0; i < 3; i++) { /* the set keeps its memories */
        clReleaseMemObject(sum.memories[i]);
        sum.memories[i] = sum.descs[i].memory = kept[i];
    }
    DO(enqueue(&sum));
    DO(update(&sum, 3));
    write_addition(&sum, queue, 1, 1);
    DO(enqueue(&sum));
    CHECK(is_addition(&sum, queue, 4, 2));
    sum.descs[1].memory = sum.descs[0].memory; /* lifetimes that end together */
    DO(update(&sum, 3));
    DO(enqueue(&sum));
    clReleaseMemObject(arena);
    release_addition(&sum);
}

static void test_released(void) {
    addition sum = make_addition(CL_TENSOR_LAYOUT_NCHW_QCOM, 4);
    cl_ml_op_qcom op = NULL;
    const cl_ml_tensor_qcom gone = sum.tensors[1];
    DO(clml->clReleaseMLTensorQCOM(gone));
    REFUSED(enqueue(&sum), "the tensor B of clCreateMLOpBinaryQCOM was released");
    REFUSED(add(sum.tensors[0], gone, sum.tensors[2], &op), "the tensor was released");
    REFUSED(update(&sum, 3), "the tensor was released");
    DO(clml->clReleaseMLOpQCOM(sum.op));
    REFUSED(enqueue(&sum), "the operation was released");
    sum.tensors[1] = tensor_of(CL_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 1);
    DO(add(sum.tensors[0], sum.tensors[1], sum.tensors[2], &sum.op));
    DO(clml->clReleaseMLTensorMemoryDescriptorSetQCOM(sum.set));
    REFUSED(enqueue(&sum), "the set of tensor memories was released");
    REFUSED(update(&sum, 3), "the set of tensor memories was released");
    REFUSED(clml->clEnqueueMLOpQCOM(queue, sum.op, NULL, 0, NULL, NULL), "is NULL");
    REFUSED(clml->clEnqueueMLOpQCOM(queue, NULL, sum.set, 0, NULL, NULL), "operation is NULL");
    DO(clml->clCreateMLTensorMemoryDescriptorSetQCOM(&sum.set));
    REFUSED(clml->clCreateMLTensorMemoryDescriptorSetQCOM(NULL), "NULL");
    release_addition(&sum);
}

void test_sets(void) {
    test_updates();
    test_accepted();
    test_released();
}
