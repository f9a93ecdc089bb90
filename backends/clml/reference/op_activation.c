/* Activations and clip. */
#include "op_activation.h"
#include "op_checks.h"

static const struct {
    cl_activation_function_qcom function;
    clml_activation activation;
    const char *name;
} FUNCTIONS[] = {
    {CL_ACTIVATION_RELU, CLML_RELU, "relu"},
    {CL_ACTIVATION_RELU6, CLML_RELU6, "relu6"},
    {CL_ACTIVATION_SIGMOID, CLML_SIGMOID, "sigmoid"},
    {CL_ACTIVATION_TANH, CLML_TANH, "tanh"},
};

static const char ACTIVATION[] = CLML_ACTIVATION_TEXT CLML_SOURCE(
    kernel void activation(TENSOR(x), RESULT(y), int activation) {
        ELEMENT(y);
        WRITE(y, n, c, h, w, activated(READ(x, n, c, h, w), activation));
    }
);

static const char CLIP[] = CLML_SOURCE(
    kernel void clip(TENSOR(x), RESULT(y), float minimum, float maximum) {
        ELEMENT(y);
        const float value = READ(x, n, c, h, w);
        WRITE(y, n, c, h, w, value < minimum ? minimum : value > maximum ? maximum : value);
    }
);

const char *clml_activation_name(clml_activation activation) {
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (FUNCTIONS[i].activation == activation) {
            return FUNCTIONS[i].name;
        }
    }
    return "identity";
}

clml_activation clml_activation_of(clml_build *b, const cl_ml_op_activation_desc_qcom *desc) {
    clml_activation activation = CLML_IDENTITY;
    if (!clml_require_desc(b, "activation", desc)) {
        return activation;
    }
    clml_require_arithmetic(b, desc->arithmetic_mode);
    clml_require(b, desc->nan_propagation == CL_PROPAGATE_NAN_QCOM, "there is no NaN mode %d",
                 (int)desc->nan_propagation);
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (FUNCTIONS[i].function == desc->function) {
            activation = FUNCTIONS[i].activation;
        }
    }
    clml_require(b, activation != CLML_IDENTITY, "there is no activation %d", (int)desc->function);
    return activation;
}

cl_int CL_API_CALL clml_create_activation(cl_context context,
                                          const cl_ml_op_properties_qcom *properties,
                                          const cl_ml_op_activation_desc_qcom *desc,
                                          cl_ml_tensor_qcom input,
                                          cl_ml_tensor_qcom activation_parameter,
                                          cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
                                          cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpActivationForwardQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_no_tensor(&b, "activation parameter", activation_parameter);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_activation activation = clml_activation_of(&b, desc);
    clml_require_no_epsilon(&b);
    clml_require_same_layout(&b, "input", x, "output", y);
    clml_require_same_shape(&b, "input", x, "output", y);
    if (clml_ok(&b)) {
        clml_use(&b, "x", x);
        clml_use(&b, "y", y);
        clml_pass_int(&b, activation);
        clml_launch(&b, "activation", ACTIVATION, y);
    }
    return clml_end(&b);
}

cl_int CL_API_CALL clml_create_clip(cl_context context, const cl_ml_op_properties_qcom *properties,
                                    const cl_ml_op_clip_desc_qcom *desc, cl_ml_tensor_qcom input,
                                    cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
                                    cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpClipQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_same_layout(&b, "input", x, "output", y);
    clml_require_same_shape(&b, "input", x, "output", y);
    if (clml_require_desc(&b, "clip", desc)) {
        float maximum = clml_float_of(&b, "the maximum", &desc->maximum);
        float minimum = clml_float_of(&b, "the minimum", &desc->minimum);
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, desc->mode == CL_CLIP_BY_VALUE_QCOM, "there is no clip mode %d",
                     (int)desc->mode);
        clml_require(&b, minimum <= maximum, "the minimum %g is above the maximum %g", minimum,
                     maximum);
        if (clml_ok(&b)) {
            clml_use(&b, "x", x);
            clml_use(&b, "y", y);
            clml_pass_float(&b, minimum);
            clml_pass_float(&b, maximum);
            clml_launch(&b, "clip", CLIP, y);
        }
    }
    return clml_end(&b);
}
