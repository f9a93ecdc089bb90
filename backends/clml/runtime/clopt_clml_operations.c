/* Creation of operations: one function per kind, because each function of CLML has its own
 * parameters. */
#include "clopt_clml_internal.h"

#include <string.h>

/* Space for the property list that holds the epsilon. */
typedef cl_ml_op_properties_qcom epsilon_list[3];

/* The lower half of the element has the bits of the float. Before version 3 there is no such
 * property, and no graph with a normalisation. */
static const cl_ml_op_properties_qcom *properties_of(const clopt_clml_request *request,
                                                     epsilon_list list) {
#if CLOPT_CLML_NEWEST >= 3
    cl_uint bits;
    memcpy(&bits, &request->facts->epsilon, sizeof bits);
    list[0] = CL_ML_BATCH_NORM_OP_EPSILON_QCOM;
    list[1] = (cl_ml_op_properties_qcom)bits;
    list[2] = CL_ML_OP_PROPERTY_LIST_END_QCOM;
    return list;
#else
    (void)request;
    (void)list;
    return NULL;
#endif
}

static cl_int create_convolution(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpConvolutionForwardQCOM(
                                        r->context, NULL, r->facts->descriptor, t[0], t[1], t[2],
                                        t[3], op, r->tuning));
}

/* The NULL is the parameter that some activations have. */
static cl_int create_convolution_activation(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpFusedConvolutionActivationForwardQCOM(
                                        r->context, NULL, r->facts->descriptor,
                                        r->facts->activation, t[0], t[1], t[2], NULL, t[3], op,
                                        r->tuning));
}

/* CLML expects the result, t[7], before the statistics. */
static cl_int create_convolution_batch_norm(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    epsilon_list list;
    const cl_ml_op_properties_qcom *properties = properties_of(r, list);
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpFusedConvolutionBatchNormForwardQCOM(
                                        r->context, properties, r->facts->descriptor,
                                        r->facts->batch_norm, t[0], t[1], t[2], t[7], t[3], t[4],
                                        t[5], t[6], op, r->tuning));
}

static cl_int create_convolution_batch_norm_activation(const clopt_clml_request *r,
                                                       cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    epsilon_list list;
    const cl_ml_op_properties_qcom *properties = properties_of(r, list);
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpFusedConvolutionBatchNormActivationForwardQCOM(
                                        r->context, properties, r->facts->descriptor,
                                        r->facts->batch_norm, r->facts->activation, t[0], t[1],
                                        t[2], t[7], NULL, t[3], t[4], t[5], t[6], op, r->tuning));
}

static cl_int create_batch_norm(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    epsilon_list list;
    const cl_ml_op_properties_qcom *properties = properties_of(r, list);
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpBatchNormForwardQCOM(
                                        r->context, properties, r->facts->batch_norm, t[0], t[1],
                                        t[2], t[3], t[4], t[5], op, r->tuning));
}

static cl_int create_activation(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpActivationForwardQCOM(
                                        r->context, NULL, r->facts->activation, t[0], r->unused,
                                        t[1], op, r->tuning));
}

static cl_int create_pooling(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpPoolingForwardQCOM(
                                        r->context, NULL, r->facts->descriptor, t[0], r->unused,
                                        t[1], op, r->tuning));
}

static cl_int create_reshape(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpReshapeQCOM(r->context, NULL, r->tensors[0],
                                                            r->tensors[1], op, r->tuning));
}

static cl_int create_concat(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpConcatQCOM(
                                        r->context, NULL, r->facts->descriptor, r->tensors,
                                        r->tensors[r->facts->tensor_count - 1], op, r->tuning));
}

static cl_int create_fully_connected(const clopt_clml_request *r, cl_ml_op_qcom *op) {
    const cl_ml_tensor_qcom *t = r->tensors;
    return CLOPT_CLML_CALL(r->clml, clCreateMLOpFullyConnectedQCOM(
                                        r->context, NULL, r->facts->descriptor, t[0], t[1], t[2],
                                        t[3], op, r->tuning));
}

/* The other kinds have a descriptor and one or two inputs. */
#define CREATE_UNARY(name, call, versions) \
    static cl_int name(const clopt_clml_request *r, cl_ml_op_qcom *op) { \
        (void)r; /* unused where the header is too old for the kind */ \
        (void)op; \
        return versions(r->clml, call(r->context, NULL, r->facts->descriptor, r->tensors[0], \
                                      r->tensors[1], op, r->tuning)); \
    }

#define CREATE_BINARY(name, call, versions) \
    static cl_int name(const clopt_clml_request *r, cl_ml_op_qcom *op) { \
        (void)r; /* unused where the header is too old for the kind */ \
        (void)op; \
        return versions(r->clml, call(r->context, NULL, r->facts->descriptor, r->tensors[0], \
                                      r->tensors[1], r->tensors[2], op, r->tuning)); \
    }

CREATE_UNARY(create_softmax, clCreateMLOpSoftmaxQCOM, CLOPT_CLML_CALL)
CREATE_UNARY(create_pad, clCreateMLOpPadQCOM, CLOPT_CLML_CALL)
CREATE_UNARY(create_clip, clCreateMLOpClipQCOM, CLOPT_CLML_FROM_2)
CREATE_UNARY(create_depth_to_space, clCreateMLOpDepthToSpaceQCOM, CLOPT_CLML_CALL)
CREATE_UNARY(create_resize_bilinear, clCreateMLOpResizeBilinearQCOM, CLOPT_CLML_CALL)
CREATE_BINARY(create_gemm, clCreateMLOpGemmQCOM, CLOPT_CLML_CALL)
CREATE_BINARY(create_binary, clCreateMLOpBinaryQCOM, CLOPT_CLML_CALL)

#define KIND(name, call) const clopt_clml_kind clopt_clml_##name = {#call, create_##name}

KIND(convolution, clCreateMLOpConvolutionForwardQCOM);
KIND(convolution_activation, clCreateMLOpFusedConvolutionActivationForwardQCOM);
KIND(convolution_batch_norm, clCreateMLOpFusedConvolutionBatchNormForwardQCOM);
KIND(convolution_batch_norm_activation,
     clCreateMLOpFusedConvolutionBatchNormActivationForwardQCOM);
KIND(batch_norm, clCreateMLOpBatchNormForwardQCOM);
KIND(activation, clCreateMLOpActivationForwardQCOM);
KIND(pooling, clCreateMLOpPoolingForwardQCOM);
KIND(softmax, clCreateMLOpSoftmaxQCOM);
KIND(pad, clCreateMLOpPadQCOM);
KIND(reshape, clCreateMLOpReshapeQCOM);
KIND(concat, clCreateMLOpConcatQCOM);
KIND(fully_connected, clCreateMLOpFullyConnectedQCOM);
KIND(gemm, clCreateMLOpGemmQCOM);
KIND(binary, clCreateMLOpBinaryQCOM);
KIND(clip, clCreateMLOpClipQCOM);
KIND(depth_to_space, clCreateMLOpDepthToSpaceQCOM);
KIND(resize_bilinear, clCreateMLOpResizeBilinearQCOM);

const clopt_clml_kind clopt_clml_copy = {"clEnqueueCopyMLTensorDataQCOM", NULL};
