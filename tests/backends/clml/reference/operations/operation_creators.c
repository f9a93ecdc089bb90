/* Calls of each creator; descriptors are initialised by position, as generated programs do. */
#include "operation_driver.h"

#include <string.h>

#define COMMON (s)->session->context, (s)->request->properties
#define T(number) (s)->tensors[number]
#define I(number) (s)->request->integers[number]
#define F(number) {{(s)->request->floats[number]}, CL_FLOAT}

static cl_ml_op_convolution_desc_qcom convolution_of(const state *s) {
    cl_ml_op_convolution_desc_qcom made = {(cl_convolution_mode_qcom)I(1),
                                           (cl_uint)I(2),
                                           4,
                                           {(cl_uint)I(3), (cl_uint)I(4)},
                                           {(cl_uint)I(5), (cl_uint)I(6)},
                                           {(cl_uint)I(7), (cl_uint)I(8)},
                                           {(cl_uint)I(9), (cl_uint)I(10)},
                                           0,
                                           (cl_arithmetic_mode_qcom)I(0)};
    return made;
}

static cl_ml_op_activation_desc_qcom activation_of(const state *s, int number) {
    cl_ml_op_activation_desc_qcom made = {(cl_activation_function_qcom)I(number),
                                          CL_PROPAGATE_NAN_QCOM, (cl_arithmetic_mode_qcom)I(0)};
    return made;
}

static cl_ml_op_batchnorm_desc_qcom batch_norm_of(const state *s) {
    cl_ml_op_batchnorm_desc_qcom made = {CL_BATCHNORM_MODE_SPATIAL_QCOM,
                                         (cl_arithmetic_mode_qcom)I(0)};
    return made;
}

static cl_int convolution(state *s) {
    cl_ml_op_convolution_desc_qcom conv = convolution_of(s);
    return CLML(s)->clCreateMLOpConvolutionForwardQCOM(COMMON, &conv, T(0), T(1), T(2), T(3),
                                                       &s->op, NULL);
}

static cl_int convolution_activation(state *s) {
    cl_ml_op_convolution_desc_qcom conv = convolution_of(s);
    cl_ml_op_activation_desc_qcom act = activation_of(s, 11);
    return CLML(s)->clCreateMLOpFusedConvolutionActivationForwardQCOM(
        COMMON, &conv, &act, T(0), T(1), T(2), T(3), T(4), &s->op, NULL);
}

static cl_int convolution_batch_norm(state *s) {
    cl_ml_op_convolution_desc_qcom conv = convolution_of(s);
    cl_ml_op_batchnorm_desc_qcom norm = batch_norm_of(s);
    return CLML(s)->clCreateMLOpFusedConvolutionBatchNormForwardQCOM(
        COMMON, &conv, &norm, T(0), T(1), T(2), T(3), T(4), T(5), T(6), T(7), &s->op, NULL);
}

static cl_int convolution_batch_norm_activation(state *s) {
    cl_ml_op_convolution_desc_qcom conv = convolution_of(s);
    cl_ml_op_batchnorm_desc_qcom norm = batch_norm_of(s);
    cl_ml_op_activation_desc_qcom act = activation_of(s, 11);
    return CLML(s)->clCreateMLOpFusedConvolutionBatchNormActivationForwardQCOM(
        COMMON, &conv, &norm, &act, T(0), T(1), T(2), T(3), T(4), T(5), T(6), T(7), T(8), &s->op,
        NULL);
}

static cl_int batch_norm(state *s) {
    cl_ml_op_batchnorm_desc_qcom norm = batch_norm_of(s);
    return CLML(s)->clCreateMLOpBatchNormForwardQCOM(COMMON, &norm, T(0), T(1), T(2), T(3), T(4),
                                                     T(5), &s->op, NULL);
}

static cl_int activation(state *s) {
    cl_ml_op_activation_desc_qcom act = activation_of(s, 1);
    return CLML(s)->clCreateMLOpActivationForwardQCOM(COMMON, &act, T(0), T(1), T(2), &s->op,
                                                      NULL);
}

static cl_int pooling(state *s) {
    cl_ml_op_pooling_desc_qcom pool = {(cl_pooling_mode_qcom)I(1),
                                       4,
                                       {(cl_uint)I(2), (cl_uint)I(3)},
                                       {(cl_uint)I(4), (cl_uint)I(5)},
                                       {(cl_uint)I(6), (cl_uint)I(7)},
                                       {(cl_uint)I(8), (cl_uint)I(9)},
                                       CL_PROPAGATE_NAN_QCOM,
                                       (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpPoolingForwardQCOM(COMMON, &pool, T(0), T(1), T(2), &s->op, NULL);
}

static cl_int softmax(state *s) {
    cl_ml_op_softmax_desc_qcom desc = {CL_SOFTMAX_ALGORITHM_ACCURATE_QCOM,
                                       (cl_softmax_mode_qcom)I(1), (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpSoftmaxQCOM(COMMON, &desc, T(0), T(1), &s->op, NULL);
}

static cl_int pad(state *s) {
    cl_ml_op_pad_desc_qcom desc = {(cl_pad_mode_qcom)I(1),
                                   {0, 0},
                                   {(cl_uint)I(2), (cl_uint)I(3), (cl_uint)I(4), (cl_uint)I(5),
                                    (cl_uint)I(6), 0, 0, 0},
                                   (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpPadQCOM(COMMON, &desc, T(0), T(1), &s->op, NULL);
}

static cl_int reshape(state *s) {
    return CLML(s)->clCreateMLOpReshapeQCOM(COMMON, T(0), T(1), &s->op, NULL);
}

static cl_int concat(state *s) {
    cl_uint inputs = s->request->count - 1;
    cl_ml_op_concat_desc_qcom desc = {(cl_uint)I(1), inputs, (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpConcatQCOM(COMMON, &desc, s->tensors, T(inputs), &s->op, NULL);
}

static cl_int fully_connected(state *s) {
    cl_ml_op_fully_connected_desc_qcom desc = {(cl_uint)I(2), (cl_fc_weight_transform_qcom)I(1),
                                               (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpFullyConnectedQCOM(COMMON, &desc, T(0), T(1), T(2), T(3), &s->op,
                                                   NULL);
}

static cl_int gemm(state *s) {
    cl_ml_op_gemm_desc_qcom desc = {(cl_uint)I(1),
                                    (cl_uint)I(2),
                                    (cl_uint)I(3),
                                    (cl_gemm_transform_qcom)I(4),
                                    (cl_gemm_transform_qcom)I(5),
                                    F(0),
                                    F(1),
                                    (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpGemmQCOM(COMMON, &desc, T(0), T(1), T(2), &s->op, NULL);
}

static cl_int binary(state *s) {
    cl_ml_op_binary_desc_qcom desc = {
        (cl_binary_op_qcom)I(1), F(0), F(1), F(2), (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpBinaryQCOM(COMMON, &desc, T(0), T(1), T(2), &s->op, NULL);
}

static cl_int clip(state *s) {
    cl_ml_op_clip_desc_qcom desc = {CL_CLIP_BY_VALUE_QCOM, F(0), F(1),
                                    (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpClipQCOM(COMMON, &desc, T(0), T(1), &s->op, NULL);
}

static cl_int depth_to_space(state *s) {
    cl_ml_op_depthtospace_desc_qcom desc = {(cl_uint)I(1), (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpDepthToSpaceQCOM(COMMON, &desc, T(0), T(1), &s->op, NULL);
}

static cl_int resize_bilinear(state *s) {
    cl_ml_op_resize_bilinear_desc_qcom desc = {(cl_bool)I(1), (cl_bool)I(2),
                                               (cl_arithmetic_mode_qcom)I(0)};
    return CLML(s)->clCreateMLOpResizeBilinearQCOM(COMMON, &desc, T(0), T(1), &s->op, NULL);
}

static const struct {
    const char *name;
    cl_int (*create)(state *s);
} OPERATIONS[] = {
    {"convolution", convolution},
    {"convolution_activation", convolution_activation},
    {"convolution_batch_norm", convolution_batch_norm},
    {"convolution_batch_norm_activation", convolution_batch_norm_activation},
    {"batch_norm", batch_norm},
    {"activation", activation},
    {"pooling", pooling},
    {"softmax", softmax},
    {"pad", pad},
    {"reshape", reshape},
    {"concat", concat},
    {"fully_connected", fully_connected},
    {"gemm", gemm},
    {"binary", binary},
    {"clip", clip},
    {"depth_to_space", depth_to_space},
    {"resize_bilinear", resize_bilinear},
};

cl_int create_operation(state *s) {
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        if (strcmp(OPERATIONS[i].name, s->request->operation) == 0) {
            return OPERATIONS[i].create(s);
        }
    }
    return CL_INVALID_OPERATION;
}
