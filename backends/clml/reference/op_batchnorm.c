/* Batch norm. */
#include "op_batchnorm.h"
#include "op_checks.h"

static const char SOURCE[] = CLML_BATCHNORM_TEXT CLML_SOURCE(
    kernel void batchnorm(TENSOR(x), TENSOR(mean), TENSOR(variance), TENSOR(scale), TENSOR(shift),
                          RESULT(y), float epsilon) {
        ELEMENT(y);
        const float value = normalized(READ(x, n, c, h, w), READ(mean, 0, c, 0, 0),
                                       READ(variance, 0, c, 0, 0), READ(scale, 0, c, 0, 0),
                                       READ(shift, 0, c, 0, 0), epsilon);
        WRITE(y, n, c, h, w, value);
    }
);

clml_batchnorm clml_batchnorm_of(clml_build *b, const cl_ml_op_batchnorm_desc_qcom *desc,
                                 cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance,
                                 cl_ml_tensor_qcom scale, cl_ml_tensor_qcom shift, int channels) {
    clml_batchnorm norm;
    norm.mean = clml_parameter(b, "mean", mean);
    norm.variance = clml_parameter(b, "variance", variance);
    norm.scale = clml_parameter(b, "scale", scale);
    norm.shift = clml_parameter(b, "batch norm bias", shift);
    clml_require_vector(b, "mean", norm.mean, channels);
    clml_require_vector(b, "variance", norm.variance, channels);
    clml_require_vector(b, "scale", norm.scale, channels);
    clml_require_vector(b, "batch norm bias", norm.shift, channels);
    if (clml_require_desc(b, "batch norm", desc)) {
        clml_require_arithmetic(b, desc->arithmetic_mode);
        clml_require(b, desc->mode == CL_BATCHNORM_MODE_SPATIAL_QCOM,
                     "there is no batch norm mode %d", (int)desc->mode);
    }
    return norm;
}

cl_int CL_API_CALL clml_create_batchnorm(cl_context context,
                                         const cl_ml_op_properties_qcom *properties,
                                         const cl_ml_op_batchnorm_desc_qcom *desc,
                                         cl_ml_tensor_qcom input, cl_ml_tensor_qcom mean,
                                         cl_ml_tensor_qcom variance, cl_ml_tensor_qcom scale,
                                         cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output,
                                         cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpBatchNormForwardQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_batchnorm norm = clml_batchnorm_of(&b, desc, mean, variance, scale, bias, x->c);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_feature_map(&b, "input", x);
    clml_require_feature_map(&b, "output", y);
    clml_require_same_shape(&b, "input", x, "output", y);
    if (clml_ok(&b)) {
        clml_use(&b, "x", x);
        clml_use(&b, "mean", norm.mean);
        clml_use(&b, "variance", norm.variance);
        clml_use(&b, "scale", norm.scale);
        clml_use(&b, "shift", norm.shift);
        clml_use(&b, "y", y);
        clml_pass_float(&b, b.epsilon);
        clml_launch(&b, "batchnorm", SOURCE, y);
    }
    return clml_end(&b);
}
