/* Convolutions: ordinary, depthwise and transposed; with batch norm and an activation. */
#include "op_activation.h"
#include "op_batchnorm.h"
#include "op_checks.h"

/* What a convolution is made from; parts that it does not have are NULL. */
typedef struct convolution {
    const cl_ml_op_convolution_desc_qcom *desc;
    clml_tensor *x, *weight, *bias, *y;
    clml_batchnorm norm;
    int has_norm;
    clml_activation activation;
} convolution;

/* The sum at an element of the result, for each mode. Features and weights are OPTIMAL. */
static const char SOURCE[] = CLML_ACTIVATION_TEXT CLML_BATCHNORM_TEXT CLML_SOURCE(
    float plain(TENSOR(x), TENSOR(weight), int4 at, int2 stride, int2 dilation, int2 pad) {
        float sum = 0.0f;
        for (int c = 0; c < SIZE_C(weight); c++) {
            for (int i = 0; i < SIZE_H(weight); i++) {
                for (int j = 0; j < SIZE_W(weight); j++) {
                    const int h = at.z * stride.x - pad.x + i * dilation.x;
                    const int w = at.w * stride.y - pad.y + j * dilation.y;
                    if (h >= 0 && h < SIZE_H(x) && w >= 0 && w < SIZE_W(x)) {
                        sum += READ_OPTIMAL(x, at.x, c, h, w) *
                               READ_OPTIMAL(weight, at.y, c, i, j);
                    }
                }
            }
        }
        return sum;
    }

    float depthwise(TENSOR(x), TENSOR(weight), int4 at, int2 stride, int2 dilation, int2 pad) {
        float sum = 0.0f;
        for (int i = 0; i < SIZE_H(weight); i++) {
            for (int j = 0; j < SIZE_W(weight); j++) {
                const int h = at.z * stride.x - pad.x + i * dilation.x;
                const int w = at.w * stride.y - pad.y + j * dilation.y;
                if (h >= 0 && h < SIZE_H(x) && w >= 0 && w < SIZE_W(x)) {
                    sum += READ_OPTIMAL(x, at.x, at.y, h, w) * READ_OPTIMAL(weight, 0, at.y, i, j);
                }
            }
        }
        return sum;
    }

    float transposed(TENSOR(x), TENSOR(weight), int4 at, int2 stride, int2 dilation, int2 pad) {
        float sum = 0.0f;
        for (int c = 0; c < SIZE_C(weight); c++) {
            for (int i = 0; i < SIZE_H(weight); i++) {
                for (int j = 0; j < SIZE_W(weight); j++) {
                    const int h = at.z + pad.x - i * dilation.x;
                    const int w = at.w + pad.y - j * dilation.y;
                    if (h >= 0 && h % stride.x == 0 && h / stride.x < SIZE_H(x) &&
                        w >= 0 && w % stride.y == 0 && w / stride.y < SIZE_W(x)) {
                        sum += READ_OPTIMAL(x, at.x, c, h / stride.x, w / stride.y) *
                               READ_OPTIMAL(weight, at.y, c, i, j);
                    }
                }
            }
        }
        return sum;
    }

    kernel void convolution(TENSOR(x), TENSOR(weight), TENSOR(bias), TENSOR(mean),
                            TENSOR(variance), TENSOR(scale), TENSOR(shift), RESULT(y),
                            int2 stride, int2 dilation, int2 pad, float epsilon, int mode,
                            int activation) {
        ELEMENT(y);
        const int4 at = (int4)(n, c, h, w);
        float value =
            mode == 0 ? plain(x, x_shape, weight, weight_shape, at, stride, dilation, pad)
            : mode == 1 ? depthwise(x, x_shape, weight, weight_shape, at, stride, dilation, pad)
                        : transposed(x, x_shape, weight, weight_shape, at, stride, dilation, pad);
        if (HAS(bias)) {
            value += READ(bias, 0, c, 0, 0);
        }
        if (HAS(mean)) {
            value = normalized(value, READ(mean, 0, c, 0, 0), READ(variance, 0, c, 0, 0),
                               READ(scale, 0, c, 0, 0), READ(shift, 0, c, 0, 0), epsilon);
        }
        WRITE(y, n, c, h, w, activated(value, activation));
    }
);

/* The kernel calls a mode by its position. */
static const cl_convolution_mode_qcom MODES[] = {
    CL_CONVOLUTION_MODE_CONVOLUTION_QCOM,
    CL_CONVOLUTION_MODE_DEPTHWISE_QCOM,
    CL_CONVOLUTION_MODE_TRANSPOSE_QCOM,
};

/* -1: there is no such mode. */
static int position_of(cl_convolution_mode_qcom mode) {
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        if (MODES[i] == mode) {
            return (int)i;
        }
    }
    return -1;
}

static void require_descriptor(clml_build *b, const cl_ml_op_convolution_desc_qcom *desc) {
    clml_require_arithmetic(b, desc->arithmetic_mode);
    clml_require(b, position_of(desc->convolution_mode) >= 0, "there is no convolution mode %d",
                 (int)desc->convolution_mode);
    clml_require(b, desc->group_count == 1,
                 "group_count is %u instead of 1; a depthwise convolution has a mode of its own",
                 desc->group_count);
    clml_require(b, desc->num_dimensions == 4, "the descriptor's third member is %u instead of 4",
                 desc->num_dimensions);
    clml_require(b, desc->reserved == 0, "the descriptor's reserved member is %u instead of 0",
                 desc->reserved);
    clml_require_pair(b, "the padding before", desc->input_pad_before, 0);
    clml_require_pair(b, "the padding after", desc->input_pad_after, 0);
    clml_require_pair(b, "the stride", desc->strides, 1);
    clml_require_pair(b, "the dilation", desc->dilations, 1);
}

/* Weights are (O, I, h, w), those of a depthwise convolution (1, C, h, w). */
static void require_channels(clml_build *b, const convolution *made) {
    const clml_tensor *x = made->x, *weight = made->weight, *y = made->y;
    int filters = y->c;
    if (made->desc->convolution_mode == CL_CONVOLUTION_MODE_DEPTHWISE_QCOM) {
        clml_require(b, x->c == y->c, "a depthwise convolution of %d channels gives %d", x->c,
                     y->c);
        filters = 1;
    }
    clml_require_shape(b, "weight", weight, filters, x->c, weight->h, weight->w);
    clml_require_vector(b, "bias", made->bias, y->c);
}

/* A transposed convolution undoes the sizes of an ordinary one; there is no output padding. */
static void require_transposed_sizes(clml_build *b, const convolution *made) {
    const cl_ml_op_convolution_desc_qcom *desc = made->desc;
    const int sizes[] = {made->x->h, made->x->w}, counts[] = {made->y->h, made->y->w};
    const int window[] = {made->weight->h, made->weight->w};
    for (int i = 0; i < 2 && clml_ok(b); i++) {
        long long wanted = (sizes[i] - 1LL) * desc->strides[i] +
                           (window[i] - 1LL) * desc->dilations[i] + 1 -
                           desc->input_pad_before[i] - desc->input_pad_after[i];
        clml_require(b, counts[i] == wanted, "output has %d elements along %c instead of %lld",
                     counts[i], "HW"[i], wanted);
    }
}

static void require_sizes(clml_build *b, const convolution *made) {
    const cl_ml_op_convolution_desc_qcom *desc = made->desc;
    const cl_uint size[] = {(cl_uint)made->weight->h, (cl_uint)made->weight->w};
    const clml_windows windows = {size, desc->input_pad_before, desc->input_pad_after,
                                  desc->strides, desc->dilations};
    if (desc->convolution_mode == CL_CONVOLUTION_MODE_TRANSPOSE_QCOM) {
        require_transposed_sizes(b, made);
    } else {
        clml_require_windows(b, &windows, made->x, made->y);
    }
}

static void launch(clml_build *b, const convolution *made) {
    const cl_ml_op_convolution_desc_qcom *desc = made->desc;
    clml_use(b, "x", made->x);
    clml_use(b, "weight", made->weight);
    clml_use(b, "bias", made->bias);
    clml_use(b, "mean", made->norm.mean);
    clml_use(b, "variance", made->norm.variance);
    clml_use(b, "scale", made->norm.scale);
    clml_use(b, "shift", made->norm.shift);
    clml_use(b, "y", made->y);
    clml_pass_int2(b, (int)desc->strides[0], (int)desc->strides[1]);
    clml_pass_int2(b, (int)desc->dilations[0], (int)desc->dilations[1]);
    clml_pass_int2(b, (int)desc->input_pad_before[0], (int)desc->input_pad_before[1]);
    clml_pass_float(b, b->epsilon);
    clml_pass_int(b, position_of(desc->convolution_mode));
    clml_pass_int(b, made->activation);
    clml_launch(b, "convolution", SOURCE, made->y);
}

static convolution begin(clml_build *b, const cl_ml_op_convolution_desc_qcom *desc,
                         cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight,
                         cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output) {
    convolution made = {0};
    made.desc = desc;
    made.x = clml_input(b, "input", input);
    made.weight = clml_parameter(b, "weight", weight);
    made.bias = clml_optional_parameter(b, "bias", bias);
    made.y = clml_output(b, "output", output);
    return made;
}

static void add_norm(clml_build *b, convolution *made, const cl_ml_op_batchnorm_desc_qcom *desc,
                     cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance, cl_ml_tensor_qcom scale,
                     cl_ml_tensor_qcom shift) {
    made->norm = clml_batchnorm_of(b, desc, mean, variance, scale, shift, made->y->c);
    made->has_norm = 1;
}

static void add_activation(clml_build *b, convolution *made,
                           const cl_ml_op_activation_desc_qcom *desc,
                           cl_ml_tensor_qcom activation_parameter) {
    clml_no_tensor(b, "activation parameter", activation_parameter);
    made->activation = clml_activation_of(b, desc);
    if (clml_ok(b)) {
        clml_require(b, desc->function == CL_ACTIVATION_RELU ||
                            desc->function == CL_ACTIVATION_RELU6,
                     "%s is not known to be fused with a convolution",
                     clml_activation_name(made->activation));
    }
}

static cl_int end(clml_build *b, const convolution *made) {
    if (!made->has_norm) {
        clml_require_no_epsilon(b);
    }
    clml_require_feature_map(b, "input", made->x);
    clml_require_layout(b, "weight", made->weight, CL_TENSOR_LAYOUT_OPTIMAL_QCOM);
    clml_require_feature_map(b, "output", made->y);
    if (clml_require_desc(b, "convolution", made->desc)) {
        require_descriptor(b, made->desc);
        require_channels(b, made);
        require_sizes(b, made);
    }
    if (clml_ok(b)) {
        launch(b, made);
    }
    return clml_end(b);
}

cl_int CL_API_CALL clml_create_convolution(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight,
    cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpConvolutionForwardQCOM", context, properties, op, cache);
    convolution made = begin(&b, desc, input, weight, bias, output);
    return end(&b, &made);
}

cl_int CL_API_CALL clml_create_convolution_activation(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, const cl_ml_op_activation_desc_qcom *activation,
    cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias,
    cl_ml_tensor_qcom activation_parameter, cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpFusedConvolutionActivationForwardQCOM", context, properties, op,
               cache);
    convolution made = begin(&b, desc, input, weight, bias, output);
    add_activation(&b, &made, activation, activation_parameter);
    return end(&b, &made);
}

cl_int CL_API_CALL clml_create_convolution_batchnorm(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, const cl_ml_op_batchnorm_desc_qcom *batchnorm,
    cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias,
    cl_ml_tensor_qcom output, cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance,
    cl_ml_tensor_qcom scale, cl_ml_tensor_qcom batchnorm_bias, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpFusedConvolutionBatchNormForwardQCOM", context, properties, op,
               cache);
    convolution made = begin(&b, desc, input, weight, bias, output);
    add_norm(&b, &made, batchnorm, mean, variance, scale, batchnorm_bias);
    return end(&b, &made);
}

cl_int CL_API_CALL clml_create_convolution_batchnorm_activation(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *desc, const cl_ml_op_batchnorm_desc_qcom *batchnorm,
    const cl_ml_op_activation_desc_qcom *activation, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output,
    cl_ml_tensor_qcom activation_parameter, cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance,
    cl_ml_tensor_qcom scale, cl_ml_tensor_qcom batchnorm_bias, cl_ml_op_qcom *op,
    cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpFusedConvolutionBatchNormActivationForwardQCOM", context,
               properties, op, cache);
    convolution made = begin(&b, desc, input, weight, bias, output);
    add_norm(&b, &made, batchnorm, mean, variance, scale, batchnorm_bias);
    add_activation(&b, &made, activation, activation_parameter);
    return end(&b, &made);
}
