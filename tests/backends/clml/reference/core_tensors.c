/* Legal tensors, and the bytes that they take. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static cl_int create(const cl_ml_tensor_desc_qcom *desc, cl_ml_tensor_usage_qcom usage) {
    cl_ml_tensor_qcom tensor = NULL;
    cl_int error = clml->clCreateMLTensorWithUsageQCOM(context, NULL, desc, usage, &tensor);
    CHECK((error == CL_SUCCESS) == (tensor != NULL));
    if (tensor) {
        DO(clml->clReleaseMLTensorQCOM(tensor));
    }
    return error;
}

static void test_creation(void) {
    const cl_ml_tensor_usage_qcom cnn = CL_TENSOR_USAGE_CNN_QCOM;
    const cl_ml_tensor_desc_qcom good = describe(CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 1, 3, 5, 7);
    cl_ml_tensor_properties_qcom none[] = {0};
    cl_ml_tensor_properties_qcom some[] = {CL_ML_TENSOR_PROPERTY_DYNAMIC_DIMENSIONS_QCOM, 2, 0};
    cl_ml_tensor_qcom tensor;
    cl_ml_tensor_desc_qcom desc = good;
    DO(create(&desc, cnn));
    DO(create(&desc, CL_TENSOR_USAGE_TNN_QCOM));
    DO(create(&desc, CL_TENSOR_USAGE_PARAMETER_QCOM));
    REFUSED(create(&desc, CL_TENSOR_USAGE_INVALID_QCOM), "the usage");
    REFUSED(create(&desc, CL_TENSOR_USAGE_UNUSED_QCOM), "the usage");
    REFUSED(create(NULL, cnn), "the descriptor is NULL");
    desc.w = 0;
    REFUSED(create(&desc, cnn), "the size w is 0, and must be between 1 and 32768");
    desc.w = 32769;
    REFUSED(create(&desc, cnn), "the size w is 32769");
    desc.w = 32768;
    desc.c = 32768;
    REFUSED(create(&desc, cnn), "has over 2 GiB");
    desc = good;
    desc.d = 1;
    REFUSED(create(&desc, cnn), "the depth and strides must be 0");
    desc = good;
    desc.strides[2] = 8;
    REFUSED(create(&desc, cnn), "the depth and strides must be 0");
    desc = good;
    desc.image_channel_type = CL_UNORM_INT8;
    REFUSED(create(&desc, cnn), "CL_FLOAT or CL_HALF_FLOAT");
    desc.image_channel_type = CL_ML_QUANTIZED_4_BIT_AS_UINT32_QCOM;
    REFUSED(create(&desc, cnn), "CL_FLOAT or CL_HALF_FLOAT");
    desc = good;
    memset(&desc.layout, 0, sizeof desc.layout);
    REFUSED(create(&desc, cnn), "there is no layout 0");
    desc = good;
    desc.num_dimensions = 4;
    REFUSED(create(&desc, cnn), "num_dimensions");
    desc.num_dimensions = CL_TENSOR_UNUSED_QCOM;
    REFUSED(create(&desc, CL_TENSOR_USAGE_UNUSED_QCOM), "must have no sizes");
    memset(&desc, 0, sizeof desc);
    desc.num_dimensions = CL_TENSOR_UNUSED_QCOM;
    REFUSED(create(&desc, cnn), "CL_TENSOR_USAGE_UNUSED_QCOM");
    DO(create(&desc, CL_TENSOR_USAGE_UNUSED_QCOM));
    REFUSED(clml->clCreateMLTensorWithUsageQCOM(NULL, NULL, &good, cnn, &tensor), "context");
    REFUSED(clml->clCreateMLTensorWithUsageQCOM(context, NULL, &good, cnn, NULL), "NULL");
    REFUSED(clml->clCreateMLTensorWithUsageQCOM(context, some, &good, cnn, &tensor), "property");
    DO(clml->clCreateMLTensorWithUsageQCOM(context, none, &good, cnn, &tensor));
    REFUSED(clml->clSetMLTensorDimensionsQCOM(&good, &tensor), "dynamic");
    DO(clml->clReleaseMLTensorQCOM(tensor));
    REFUSED(clml->clReleaseMLTensorQCOM(tensor), "the tensor was released");
    REFUSED(clml->clReleaseMLTensorQCOM(NULL), "the tensor is NULL");
    REFUSED(clml->clReleaseMLTensorQCOM((cl_ml_tensor_qcom)&desc), "is no handle");
    REFUSED(clml->clReleaseMLOpQCOM((cl_ml_op_qcom)tensor), "the operation was released");
}

static void test_sizes(void) {
    const cl_ml_tensor_layout_qcom optimal = CL_TENSOR_LAYOUT_OPTIMAL_QCOM;
    cl_ml_tensor_qcom unused = unused_tensor();
    cl_ml_tensor_qcom nhwc = tensor_of(CL_HALF_FLOAT, CL_TENSOR_LAYOUT_NHWC_QCOM, 2, 3, 5, 7);
    cl_ml_tensor_qcom tensors[3];
    cl_ml_op_qcom op;
    cl_uint bytes = 0;
    CHECK(size_of(nhwc) == 2 * 3 * 5 * 7 * 2);
    REFUSED(clml->clReleaseMLOpQCOM((cl_ml_op_qcom)nhwc), "a tensor was given");
    REFUSED(clml->clGetMLTensorMemorySizeQCOM(context, nhwc, NULL), "NULL");
    REFUSED(clml->clGetMLTensorMemorySizeQCOM(context, unused, &bytes), "unused");
    REFUSED(clml->clGetMLTensorMemorySizeQCOM(NULL, nhwc, &bytes), "another context");
    for (int i = 0; i < 3; i++) {
        tensors[i] = tensor_of(CL_FLOAT, optimal, 1, 5, 3, 7);
        REFUSED(clml->clGetMLTensorMemorySizeQCOM(context, tensors[i], &bytes),
                "the size of the tensor 1x5x3x7 float OPTIMAL is not known before");
    }
    DO(add(tensors[0], tensors[1], tensors[2], &op));
    for (int i = 0; i < 3; i++) {
        /* Two blocks of four channels; rows of 7 * 4 * 4 bytes, rounded up to 64. */
        CHECK(size_of(tensors[i]) == 2 * 3 * 128);
        DO(clml->clReleaseMLTensorQCOM(tensors[i]));
    }
    DO(clml->clReleaseMLOpQCOM(op));
    setenv("CLML_REFERENCE_PADDING", "100", 1);
    for (int i = 0; i < 3; i++) {
        tensors[i] = tensor_of(CL_FLOAT, i < 2 ? optimal : CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 4);
    }
    REFUSED(add(tensors[0], tensors[1], tensors[2], &op), "layout");
    CHECK(!op && size_of(tensors[2]) == 64);
    /* Refused calls hold no references. */
    REFUSED(clml->clGetMLTensorMemorySizeQCOM(context, tensors[0], &bytes), "is not known");
    DO(clml->clReleaseMLTensorQCOM(tensors[2]));
    tensors[2] = tensor_of(CL_FLOAT, optimal, 1, 4, 1, 4);
    DO(add(tensors[0], tensors[1], tensors[2], &op));
    CHECK(size_of(tensors[0]) == 64 + 100);
    unsetenv("CLML_REFERENCE_PADDING");
    for (int i = 0; i < 3; i++) {
        DO(clml->clReleaseMLTensorQCOM(tensors[i]));
    }
    DO(clml->clReleaseMLOpQCOM(op));
    DO(clml->clReleaseMLTensorQCOM(nhwc));
    DO(clml->clReleaseMLTensorQCOM(unused));
}

void test_tensors(void) {
    test_creation();
    test_sizes();
}
