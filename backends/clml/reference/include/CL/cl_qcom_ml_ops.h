/* Qualcomm's CLML (cl_qcom_ml_ops), as far as public sources tell.
 *
 * A header of our own, for the reference library. Names, orders of parameters and of members are
 * those of public sources; every number, and the order of members of the tables of functions, is
 * our own. So what compiles with this header compiles with that of the vendor's SDK too, but what
 * was compiled with this one works with the reference library alone: CLML_REFERENCE_HEADER tells
 * the two apart at compile time, clmlReferenceHeaderVersion() the libraries at run time.
 *
 * - Spatial arrays have H at [0] and W at [1]; a tensor's sizes are n, c, h, w whatever its layout.
 * - Each enumeration has a range of its own, and 0 is in none: a field that was forgotten, or got
 *   another enumeration's value, is refused.
 * - Types named clml_reference_... are of this header alone: programs call members of the tables.
 */
#ifndef CL_QCOM_ML_OPS_H
#define CL_QCOM_ML_OPS_H

#include <CL/cl.h>
#include <stdint.h>

#include <CL/cl_ext_qcom.h>

#ifdef __cplusplus
extern "C" {
#endif

#define cl_qcom_ml_ops 1
#define CLML_REFERENCE_HEADER 1

/* Defined before this header is included, it is the header of an older SDK. */
#ifndef CL_QCOM_ML_OPS_H_MAJOR_VERSION
#define CL_QCOM_ML_OPS_H_MAJOR_VERSION 5
#endif
#define CL_QCOM_ML_OPS_H_MINOR_VERSION 0

/* Handles. */
typedef struct _cl_ml_tensor_qcom *cl_ml_tensor_qcom;
typedef struct _cl_ml_op_qcom *cl_ml_op_qcom;
typedef struct _cl_ml_tuningcache_qcom *cl_ml_tuningcache_qcom;
typedef struct _cl_ml_tensor_mem_desc_set_qcom *cl_ml_tensor_mem_desc_set_qcom;

/* Lists of key, value, ..., LIST_END. */
typedef intptr_t cl_ml_op_properties_qcom;
typedef intptr_t cl_ml_tensor_properties_qcom;
typedef intptr_t cl_update_ml_op_properties_qcom;

#define CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM 3

#define CL_ML_OP_PROPERTY_LIST_END_QCOM 0
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 3
/* A float's bits are in the lower half; the upper half does not matter. */
#define CL_ML_BATCH_NORM_OP_EPSILON_QCOM 0x5101
#endif
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 5
#define CL_ML_TENSOR_PROPERTY_LIST_END_QCOM 0
#define CL_ML_TENSOR_PROPERTY_DYNAMIC_DIMENSIONS_QCOM 0x5201
#define CL_ML_TENSOR_PROPERTY_QUANTIZATION_QCOM 0x5202
#define CL_ML_TENSOR_DYNAMIC_C_DIMENSION_QCOM (1 << 1)
#define CL_ML_TENSOR_DYNAMIC_H_DIMENSION_QCOM (1 << 2)
#define CL_ML_TENSOR_DYNAMIC_W_DIMENSION_QCOM (1 << 3)
#define CL_UPDATE_ML_OP_PROPERTY_LIST_END_QCOM 0
#define CL_UPDATE_ML_OP_PROPERTY_DYNAMIC_TENSORS_QCOM 0x5301
#define CL_ML_QUANTIZATION_DESC_QCOM 0x5401
#define CL_QUANTIZATION_MODE_4_BIT_AS_UINT32_QCOM 0x5411
#define CL_ML_QUANTIZED_4_BIT_AS_UINT32_QCOM 0x5421 /* a cl_channel_type */
#endif

/* Enumerations. */

typedef enum cl_ml_tensor_layout_qcom {
    CL_TENSOR_LAYOUT_OPTIMAL_QCOM = 0x5001, /* the device's own */
    CL_TENSOR_LAYOUT_NCHW_QCOM,
    CL_TENSOR_LAYOUT_NHWC_QCOM
} cl_ml_tensor_layout_qcom;

enum { CL_TENSOR_UNUSED_QCOM = 0x5011, CL_TENSOR_DIMENSIONS_4D_QCOM };

/* These values are known. Before version 4, programs may define them for themselves. */
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 4
typedef enum cl_ml_tensor_usage_qcom {
    CL_TENSOR_USAGE_INVALID_QCOM = 0,
    CL_TENSOR_USAGE_UNUSED_QCOM = 1,
    CL_TENSOR_USAGE_PARAMETER_QCOM = 2,
    CL_TENSOR_USAGE_CNN_QCOM = 3,
    CL_TENSOR_USAGE_TNN_QCOM = 4
} cl_ml_tensor_usage_qcom;
#endif

typedef enum cl_arithmetic_mode_qcom {
    CL_ARITHMETIC_MODE_FP32_QCOM = 0x5021,
    CL_ARITHMETIC_MODE_FP16_QCOM,
    CL_ARITHMETIC_MODE_FP16_ACC32_QCOM
} cl_arithmetic_mode_qcom;

typedef enum cl_convolution_mode_qcom {
    CL_CONVOLUTION_MODE_CONVOLUTION_QCOM = 0x5031,
    CL_CONVOLUTION_MODE_DEPTHWISE_QCOM,
    CL_CONVOLUTION_MODE_TRANSPOSE_QCOM
} cl_convolution_mode_qcom;

typedef enum cl_batchnorm_mode_qcom {
    CL_BATCHNORM_MODE_SPATIAL_QCOM = 0x5041
} cl_batchnorm_mode_qcom;

typedef enum cl_activation_function_qcom {
    CL_ACTIVATION_RELU = 0x5051,
    CL_ACTIVATION_RELU6,
    CL_ACTIVATION_SIGMOID,
    CL_ACTIVATION_TANH
} cl_activation_function_qcom;

typedef enum cl_nan_propagation_qcom {
    CL_PROPAGATE_NAN_QCOM = 0x5061
} cl_nan_propagation_qcom;

typedef enum cl_pooling_mode_qcom {
    CL_POOLING_MODE_MAX_QCOM = 0x5071,
    CL_POOLING_MODE_AVERAGE_EXCLUDE_PADDING_QCOM
} cl_pooling_mode_qcom;

typedef enum cl_binary_op_qcom {
    CL_TENSOR_OP_ADD_QCOM = 0x5081,
    CL_TENSOR_OP_SUB_QCOM,
    CL_TENSOR_OP_MUL_QCOM,
    CL_TENSOR_OP_DIV_QCOM,
    CL_TENSOR_OP_MIN_QCOM,
    CL_TENSOR_OP_MAX_QCOM
} cl_binary_op_qcom;

typedef enum cl_softmax_algorithm_qcom {
    CL_SOFTMAX_ALGORITHM_ACCURATE_QCOM = 0x5091
} cl_softmax_algorithm_qcom;

typedef enum cl_softmax_mode_qcom {
    CL_SOFTMAX_MODE_INSTANCE_QCOM = 0x50A1, /* over all of c, h and w */
    CL_SOFTMAX_MODE_SPATIAL_QCOM            /* over c, at each h and w */
} cl_softmax_mode_qcom;

typedef enum cl_pad_mode_qcom {
    CL_PAD_MODE_CONSTANT_QCOM = 0x50B1, /* 0 */
    CL_PAD_MODE_SYMMETRIC_QCOM,
    CL_PAD_MODE_REFLECT_QCOM
} cl_pad_mode_qcom;

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 2
typedef enum cl_clip_mode_qcom {
    CL_CLIP_BY_VALUE_QCOM = 0x50C1
} cl_clip_mode_qcom;
#endif

typedef enum cl_gemm_transform_qcom {
    CL_GEMM_TRANSFORM_NONE_QCOM = 0x50D1,
    CL_GEMM_TRANSFORM_TRANSPOSE_QCOM
} cl_gemm_transform_qcom;

typedef enum cl_fc_weight_transform_qcom {
    CL_FC_WEIGHT_TRANSFORM_NONE_QCOM = 0x50E1,
    CL_FC_WEIGHT_TRANSFORM_TRANSPOSE_QCOM
} cl_fc_weight_transform_qcom;

/* Descriptors. */

typedef struct cl_ml_tensor_desc_qcom {
    cl_channel_type image_channel_type; /* CL_FLOAT or CL_HALF_FLOAT */
    cl_ml_tensor_layout_qcom layout;
    size_t n, c, h, w, d; /* d: 0 */
    cl_uint num_dimensions; /* CL_TENSOR_DIMENSIONS_4D_QCOM, or CL_TENSOR_UNUSED_QCOM and all 0 */
    size_t strides[4]; /* 0 */
} cl_ml_tensor_desc_qcom;

typedef struct cl_ml_tensor_memory_desc_qcom {
    cl_ml_tensor_qcom tensor;
    cl_mem memory;
} cl_ml_tensor_memory_desc_qcom;

/* {{1.0f}, CL_FLOAT} */
typedef struct clml_reference_value {
    union {
        cl_float f32;
        cl_half f16;
    } value;
    cl_channel_type type;
} clml_reference_value;

typedef struct cl_ml_op_convolution_desc_qcom {
    cl_convolution_mode_qcom convolution_mode;
    cl_uint group_count;    /* 1 */
    cl_uint num_dimensions; /* 4 */
    cl_uint input_pad_before[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint input_pad_after[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint strides[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint dilations[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint reserved; /* 0 */
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_convolution_desc_qcom;

typedef struct cl_ml_op_activation_desc_qcom {
    cl_activation_function_qcom function;
    cl_nan_propagation_qcom nan_propagation;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_activation_desc_qcom;

typedef struct cl_ml_op_batchnorm_desc_qcom {
    cl_batchnorm_mode_qcom mode;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_batchnorm_desc_qcom;

typedef struct cl_ml_op_pooling_desc_qcom {
    cl_pooling_mode_qcom mode;
    cl_uint num_dimensions; /* 4 */
    cl_uint input_pad_before[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint input_pad_after[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint strides[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_uint window[CL_ML_TENSOR_MAX_SPATIAL_DIMS_QCOM];
    cl_nan_propagation_qcom nan_propagation;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_pooling_desc_qcom;

typedef struct cl_ml_op_softmax_desc_qcom {
    cl_softmax_algorithm_qcom algorithm;
    cl_softmax_mode_qcom mode;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_softmax_desc_qcom;

typedef struct cl_ml_op_pad_desc_qcom {
    cl_pad_mode_qcom mode;
    cl_uint reserved[2];   /* 0 */
    cl_uint pad_widths[8]; /* before H, after H, before W, after W, and four times 0 */
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_pad_desc_qcom;

typedef struct cl_ml_op_concat_desc_qcom {
    cl_uint axis; /* 1 */
    cl_uint num_inputs;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_concat_desc_qcom;

typedef struct cl_ml_op_fully_connected_desc_qcom {
    cl_uint axis; /* 1 */
    cl_fc_weight_transform_qcom weight_transform;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_fully_connected_desc_qcom;

typedef struct cl_ml_op_gemm_desc_qcom {
    cl_uint m, n, k;
    cl_gemm_transform_qcom transform_a, transform_b;
    clml_reference_value alpha, beta; /* C = alpha A B + beta C */
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_gemm_desc_qcom;

typedef struct cl_ml_op_binary_desc_qcom {
    cl_binary_op_qcom operation;
    clml_reference_value alpha, beta, gamma; /* C = (alpha A) op (beta B) + gamma C */
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_binary_desc_qcom;

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 2
typedef struct cl_ml_op_clip_desc_qcom {
    cl_clip_mode_qcom mode;
    clml_reference_value maximum, minimum; /* in this order */
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_clip_desc_qcom;
#endif

typedef struct cl_ml_op_depthtospace_desc_qcom {
    cl_uint block_size;
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_depthtospace_desc_qcom;

typedef struct cl_ml_op_resize_bilinear_desc_qcom {
    cl_bool align_corners;
    cl_bool half_pixel_centers; /* CL_FALSE */
    cl_arithmetic_mode_qcom arithmetic_mode;
} cl_ml_op_resize_bilinear_desc_qcom;

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 5
typedef struct cl_ml_quantization_desc_qcom {
    cl_uint struct_id; /* CL_ML_QUANTIZATION_DESC_QCOM */
    cl_uint mode;
    cl_uint num_scale_tensors;
    const cl_ml_tensor_qcom *scale_tensors;
    const void *pNext;
} cl_ml_quantization_desc_qcom;
#endif

/* Types of functions: tensors, memory, commands. */

typedef cl_int CL_API_CALL clml_reference_create_tensor(
    cl_context context, const cl_ml_tensor_properties_qcom *properties,
    const cl_ml_tensor_desc_qcom *desc, cl_ml_tensor_qcom *tensor);

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 4
typedef cl_int CL_API_CALL clml_reference_create_tensor_with_usage(
    cl_context context, const cl_ml_tensor_properties_qcom *properties,
    const cl_ml_tensor_desc_qcom *desc, cl_ml_tensor_usage_qcom usage, cl_ml_tensor_qcom *tensor);
#endif

typedef cl_int CL_API_CALL clml_reference_release_tensor(cl_ml_tensor_qcom tensor);
typedef cl_int CL_API_CALL clml_reference_release_op(cl_ml_op_qcom op);

typedef cl_int CL_API_CALL clml_reference_get_memory_size(cl_context context,
                                                          cl_ml_tensor_qcom tensor,
                                                          cl_uint *bytes);

typedef cl_int CL_API_CALL clml_reference_enqueue_op(cl_command_queue queue, cl_ml_op_qcom op,
                                                     cl_ml_tensor_mem_desc_set_qcom set,
                                                     cl_uint wait_count, const cl_event *waits,
                                                     cl_event *event);

typedef cl_int CL_API_CALL clml_reference_enqueue_write(
    cl_command_queue queue, const void *host, cl_ml_tensor_layout_qcom layout,
    cl_ml_tensor_qcom tensor, cl_mem memory, cl_uint wait_count, const cl_event *waits,
    cl_event *event);

typedef cl_int CL_API_CALL clml_reference_enqueue_read(
    cl_command_queue queue, cl_ml_tensor_qcom tensor, cl_mem memory, void *host,
    cl_ml_tensor_layout_qcom layout, cl_uint wait_count, const cl_event *waits, cl_event *event);

typedef cl_int CL_API_CALL clml_reference_enqueue_copy(
    cl_command_queue queue, cl_ml_tensor_qcom source, cl_mem source_memory,
    cl_ml_tensor_qcom target, cl_mem target_memory, cl_uint wait_count, const cl_event *waits,
    cl_event *event);

typedef cl_int CL_API_CALL clml_reference_create_set(cl_ml_tensor_mem_desc_set_qcom *set);
typedef cl_int CL_API_CALL clml_reference_update_set(
    cl_ml_tensor_mem_desc_set_qcom set, uint32_t count, const cl_ml_tensor_memory_desc_qcom *descs);
typedef cl_int CL_API_CALL clml_reference_release_set(cl_ml_tensor_mem_desc_set_qcom set);

typedef cl_int CL_API_CALL clml_reference_create_cache(cl_ml_tuningcache_qcom *cache);
typedef cl_int CL_API_CALL clml_reference_release_cache(cl_ml_tuningcache_qcom cache);
typedef cl_int CL_API_CALL clml_reference_tune_op(cl_command_queue queue, cl_ml_op_qcom op,
                                                  cl_ml_tensor_mem_desc_set_qcom set,
                                                  cl_ml_tuningcache_qcom cache,
                                                  cl_ulong *nanoseconds);
typedef cl_int CL_API_CALL clml_reference_save_cache(cl_ml_tuningcache_qcom cache, size_t bytes,
                                                     unsigned char *data, size_t *bytes_needed);
typedef cl_int CL_API_CALL clml_reference_load_cache(cl_ml_tuningcache_qcom cache, size_t bytes,
                                                     unsigned char *data);

/* Seven arrays of changes, of which only the counts of 0 are known. */
typedef cl_int CL_API_CALL clml_reference_enqueue_recording(
    cl_command_queue queue, cl_recording_qcom recording, size_t count0, const void *changes0,
    size_t count1, const void *changes1, size_t count2, const void *changes2, size_t count3,
    const void *changes3, size_t count4, const void *changes4, size_t count5,
    const void *changes5, size_t count6, const void *changes6, cl_uint wait_count,
    const cl_event *waits, cl_event *event);

/* Types of functions: what creates operations. */

typedef cl_int CL_API_CALL clml_reference_create_convolution(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight,
    cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_convolution_activation(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, const cl_ml_op_activation_desc_qcom *activation,
    cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias,
    cl_ml_tensor_qcom activation_parameter, cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_convolution_batchnorm(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, const cl_ml_op_batchnorm_desc_qcom *batchnorm,
    cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias,
    cl_ml_tensor_qcom output, cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance,
    cl_ml_tensor_qcom scale, cl_ml_tensor_qcom batchnorm_bias, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_convolution_batchnorm_activation(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, const cl_ml_op_batchnorm_desc_qcom *batchnorm,
    const cl_ml_op_activation_desc_qcom *activation, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output,
    cl_ml_tensor_qcom activation_parameter, cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance,
    cl_ml_tensor_qcom scale, cl_ml_tensor_qcom batchnorm_bias, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_batchnorm(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_batchnorm_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom mean,
    cl_ml_tensor_qcom variance, cl_ml_tensor_qcom scale, cl_ml_tensor_qcom bias,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_activation(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_activation_desc_qcom *desc, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom activation_parameter, cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_pooling(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_pooling_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom mask,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_softmax(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_softmax_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
    cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_pad(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_pad_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
    cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_reshape(
    cl_context context, const cl_ml_op_properties_qcom *properties, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_concat(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_concat_desc_qcom *desc, const cl_ml_tensor_qcom *inputs,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_fully_connected(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_fully_connected_desc_qcom *desc, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_gemm(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_gemm_desc_qcom *desc, cl_ml_tensor_qcom a, cl_ml_tensor_qcom b,
    cl_ml_tensor_qcom c, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_binary(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_binary_desc_qcom *desc, cl_ml_tensor_qcom a, cl_ml_tensor_qcom b,
    cl_ml_tensor_qcom c, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 2
typedef cl_int CL_API_CALL clml_reference_create_clip(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_clip_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
    cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);
#endif

typedef cl_int CL_API_CALL clml_reference_create_depth_to_space(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_depthtospace_desc_qcom *desc, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

typedef cl_int CL_API_CALL clml_reference_create_resize_bilinear(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_resize_bilinear_desc_qcom *desc, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache);

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 5
typedef cl_int CL_API_CALL clml_reference_set_dimensions(const cl_ml_tensor_desc_qcom *desc,
                                                         cl_ml_tensor_qcom *tensor);
typedef cl_int CL_API_CALL clml_reference_update_op(
    cl_ml_op_qcom op, const cl_update_ml_op_properties_qcom *properties,
    cl_ml_tensor_mem_desc_set_qcom set, const void *reserved);
#endif

/* The tables, which differ as versions do: 2 has clip; from 4 on tensors are created with a usage
 * alone; 5 has dynamic sizes. */

#define CLML_REFERENCE_MEMBERS \
    clml_reference_create_convolution *clCreateMLOpConvolutionForwardQCOM; \
    clml_reference_create_convolution_activation \
        *clCreateMLOpFusedConvolutionActivationForwardQCOM; \
    clml_reference_create_convolution_batchnorm *clCreateMLOpFusedConvolutionBatchNormForwardQCOM; \
    clml_reference_create_convolution_batchnorm_activation \
        *clCreateMLOpFusedConvolutionBatchNormActivationForwardQCOM; \
    clml_reference_create_batchnorm *clCreateMLOpBatchNormForwardQCOM; \
    clml_reference_create_activation *clCreateMLOpActivationForwardQCOM; \
    clml_reference_create_pooling *clCreateMLOpPoolingForwardQCOM; \
    clml_reference_create_softmax *clCreateMLOpSoftmaxQCOM; \
    clml_reference_create_pad *clCreateMLOpPadQCOM; \
    clml_reference_create_reshape *clCreateMLOpReshapeQCOM; \
    clml_reference_create_concat *clCreateMLOpConcatQCOM; \
    clml_reference_create_fully_connected *clCreateMLOpFullyConnectedQCOM; \
    clml_reference_create_gemm *clCreateMLOpGemmQCOM; \
    clml_reference_create_binary *clCreateMLOpBinaryQCOM; \
    clml_reference_create_depth_to_space *clCreateMLOpDepthToSpaceQCOM; \
    clml_reference_create_resize_bilinear *clCreateMLOpResizeBilinearQCOM; \
    clml_reference_release_op *clReleaseMLOpQCOM; \
    clml_reference_release_tensor *clReleaseMLTensorQCOM; \
    clml_reference_get_memory_size *clGetMLTensorMemorySizeQCOM; \
    clml_reference_enqueue_op *clEnqueueMLOpQCOM; \
    clml_reference_enqueue_write *clEnqueueWriteMLTensorDataQCOM; \
    clml_reference_enqueue_read *clEnqueueReadMLTensorDataQCOM; \
    clml_reference_enqueue_copy *clEnqueueCopyMLTensorDataQCOM; \
    clml_reference_create_set *clCreateMLTensorMemoryDescriptorSetQCOM; \
    clml_reference_update_set *clUpdateMLTensorMemoryDescriptorSetQCOM; \
    clml_reference_release_set *clReleaseMLTensorMemoryDescriptorSetQCOM; \
    clml_reference_create_cache *clCreateMLTuningCacheQCOM; \
    clml_reference_release_cache *clReleaseMLTuningCacheQCOM; \
    clml_reference_tune_op *clTuneMLOpQCOM; \
    clml_reference_save_cache *clSaveMLTuningCacheQCOM; \
    clml_reference_load_cache *clLoadMLTuningCacheQCOM; \
    clml_reference_enqueue_recording *clEnqueueRecordingMLOpQCOM;

typedef struct CLMLInterfaceV1QCOM {
    CLML_REFERENCE_MEMBERS
    clml_reference_create_tensor *clCreateMLTensorQCOM;
} CLMLInterfaceV1QCOM;

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 2
typedef struct CLMLInterfaceV2QCOM {
    CLML_REFERENCE_MEMBERS
    clml_reference_create_tensor *clCreateMLTensorQCOM;
    clml_reference_create_clip *clCreateMLOpClipQCOM;
} CLMLInterfaceV2QCOM;
#endif

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 3
typedef struct CLMLInterfaceV3QCOM {
    CLML_REFERENCE_MEMBERS
    clml_reference_create_tensor *clCreateMLTensorQCOM;
    clml_reference_create_clip *clCreateMLOpClipQCOM;
} CLMLInterfaceV3QCOM;
#endif

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 4
typedef struct CLMLInterfaceV4QCOM {
    CLML_REFERENCE_MEMBERS
    clml_reference_create_tensor_with_usage *clCreateMLTensorWithUsageQCOM;
    clml_reference_create_clip *clCreateMLOpClipQCOM;
} CLMLInterfaceV4QCOM;
#endif

#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 5
typedef struct CLMLInterfaceV5QCOM {
    CLML_REFERENCE_MEMBERS
    clml_reference_create_tensor_with_usage *clCreateMLTensorWithUsageQCOM;
    clml_reference_create_clip *clCreateMLOpClipQCOM;
    clml_reference_set_dimensions *clSetMLTensorDimensionsQCOM;
    clml_reference_update_op *clUpdateMLOpQCOM;
} CLMLInterfaceV5QCOM;
#endif

/* What the library exports. */

/* (NULL, NULL, 0, &count), then (majors, minors, count, NULL). */
extern CL_API_ENTRY cl_int CL_API_CALL clQueryMLInterfaceVersionsQCOM(cl_int *majors,
                                                                      cl_int *minors,
                                                                      cl_uint count,
                                                                      cl_uint *count_ret);

/* `table` is the address of a pointer to the table, which is NULL after a failure. */
extern CL_API_ENTRY cl_int CL_API_CALL clGetMLInterfaceQCOM(void *table, cl_int major,
                                                            cl_int minor);

#define CLML_REFERENCE_GETTER(N) \
    static inline CLMLInterfaceV##N##QCOM *clGetMLInterfaceV##N##QCOM(cl_int minor) { \
        CLMLInterfaceV##N##QCOM *table = NULL; \
        clGetMLInterfaceQCOM((void *)&table, N, minor); \
        return table; \
    }

CLML_REFERENCE_GETTER(1)
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 2
CLML_REFERENCE_GETTER(2)
#endif
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 3
CLML_REFERENCE_GETTER(3)
#endif
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 4
CLML_REFERENCE_GETTER(4)
#endif
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION >= 5
CLML_REFERENCE_GETTER(5)
#endif

/* Of the reference library alone, for programs that were compiled with this header. */

/* CLML_REFERENCE_HEADER of the header that the library was compiled with. */
extern CL_API_ENTRY cl_int CL_API_CALL clmlReferenceHeaderVersion(void);

/* Why the last call that was refused was, "" before there was one; valid until the next one is. */
extern CL_API_ENTRY const char *CL_API_CALL clmlReferenceMessage(void);

/* How many handles are not yet released. */
extern CL_API_ENTRY cl_uint CL_API_CALL clmlReferenceLiveHandles(void);

#ifdef __cplusplus
}
#endif

#endif
