/* Tensors, memories and a small operation. */
#include "core.h"

#include <string.h>

cl_ml_tensor_desc_qcom describe(cl_ml_tensor_layout_qcom layout, size_t n, size_t c, size_t h,
                                size_t w) {
    cl_ml_tensor_desc_qcom desc = {CL_FLOAT, layout, n,  c, h, w, 0, CL_TENSOR_DIMENSIONS_4D_QCOM,
                                   {0}};
    return desc;
}

cl_ml_tensor_qcom tensor_of(cl_channel_type type, cl_ml_tensor_layout_qcom layout, size_t n,
                            size_t c, size_t h, size_t w) {
    cl_ml_tensor_qcom tensor = NULL;
    cl_ml_tensor_desc_qcom desc = describe(layout, n, c, h, w);
    desc.image_channel_type = type;
    DO(clml->clCreateMLTensorWithUsageQCOM(context, NULL, &desc, CL_TENSOR_USAGE_CNN_QCOM,
                                           &tensor));
    return tensor;
}

cl_ml_tensor_qcom unused_tensor(void) {
    cl_ml_tensor_qcom tensor = NULL;
    cl_ml_tensor_desc_qcom desc;
    memset(&desc, 0, sizeof desc);
    desc.num_dimensions = CL_TENSOR_UNUSED_QCOM;
    DO(clml->clCreateMLTensorWithUsageQCOM(context, NULL, &desc, CL_TENSOR_USAGE_UNUSED_QCOM,
                                           &tensor));
    return tensor;
}

cl_mem buffer_of(size_t bytes) {
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    DO(error);
    return buffer;
}

cl_uint size_of(cl_ml_tensor_qcom tensor) {
    cl_uint bytes = 0;
    DO(clml->clGetMLTensorMemorySizeQCOM(context, tensor, &bytes));
    return bytes;
}

cl_int add(cl_ml_tensor_qcom a, cl_ml_tensor_qcom b, cl_ml_tensor_qcom c, cl_ml_op_qcom *op) {
    cl_ml_op_binary_desc_qcom desc = {CL_TENSOR_OP_ADD_QCOM,
                                      {{1.0f}, CL_FLOAT},
                                      {{1.0f}, CL_FLOAT},
                                      {{0.0f}, CL_FLOAT},
                                      CL_ARITHMETIC_MODE_FP32_QCOM};
    return clml->clCreateMLOpBinaryQCOM(context, NULL, &desc, a, b, c, op, NULL);
}

addition make_addition(cl_ml_tensor_layout_qcom layout, size_t n) {
    addition sum;
    memset(&sum, 0, sizeof sum);
    for (int i = 0; i < 3; i++) {
        sum.tensors[i] = tensor_of(CL_FLOAT, layout, 1, n, 1, 1);
    }
    DO(add(sum.tensors[0], sum.tensors[1], sum.tensors[2], &sum.op));
    for (int i = 0; i < 3; i++) {
        sum.memories[i] = buffer_of(size_of(sum.tensors[i]));
        sum.descs[i].tensor = sum.tensors[i];
        sum.descs[i].memory = sum.memories[i];
    }
    DO(clml->clCreateMLTensorMemoryDescriptorSetQCOM(&sum.set));
    DO(clml->clUpdateMLTensorMemoryDescriptorSetQCOM(sum.set, 3, sum.descs));
    return sum;
}

void write_addition(const addition *sum, cl_command_queue on, float a, float b) {
    const float values[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        float data[64];
        for (int j = 0; j < 64; j++) {
            data[j] = values[i];
        }
        DO(clml->clEnqueueWriteMLTensorDataQCOM(on, data, CL_TENSOR_LAYOUT_NCHW_QCOM,
                                                sum->tensors[i], sum->memories[i], 0, NULL,
                                                NULL));
    }
}

int is_addition(const addition *sum, cl_command_queue on, size_t n, float expected) {
    float data[64];
    cl_event event = NULL;
    DO(clml->clEnqueueReadMLTensorDataQCOM(on, sum->tensors[2], sum->memories[2], data,
                                           CL_TENSOR_LAYOUT_NCHW_QCOM, 0, NULL, &event));
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
    for (size_t i = 0; i < n; i++) {
        if (!(data[i] == expected)) {
            return 0;
        }
    }
    return 1;
}

void release_addition(addition *sum) {
    for (int i = 0; i < 3; i++) {
        DO(clml->clReleaseMLTensorQCOM(sum->tensors[i]));
        clReleaseMemObject(sum->memories[i]);
    }
    DO(clml->clReleaseMLOpQCOM(sum->op));
    DO(clml->clReleaseMLTensorMemoryDescriptorSetQCOM(sum->set));
}
