/* C = (alpha A) op (beta B) + gamma C, element by element: nothing is broadcast. */
#include "op_checks.h"

static const char SOURCE[] = CLML_SOURCE(
    float binary_add(float a, float b) { return a + b; }
    float binary_sub(float a, float b) { return a - b; }
    float binary_mul(float a, float b) { return a * b; }
    float binary_div(float a, float b) { return a / b; }
    float binary_min(float a, float b) { return b < a || isnan(b) ? b : a; }
    float binary_max(float a, float b) { return b > a || isnan(b) ? b : a; }

    kernel void binary(TENSOR(a), TENSOR(b), RESULT(y), float alpha, float beta, float gamma) {
        ELEMENT(y);
        float value = alpha * READ(a, n, c, h, w);
        if (HAS(b)) {
            value = FUNCTION(value, beta * READ(b, n, c, h, w));
        }
        if (gamma != 0.0f) {
            value += gamma * READ(y, n, c, h, w);
        }
        WRITE(y, n, c, h, w, value);
    }
);

static const struct {
    cl_binary_op_qcom operation;
    const char *function;
} FUNCTIONS[] = {
    {CL_TENSOR_OP_ADD_QCOM, "binary_add"}, {CL_TENSOR_OP_SUB_QCOM, "binary_sub"},
    {CL_TENSOR_OP_MUL_QCOM, "binary_mul"}, {CL_TENSOR_OP_DIV_QCOM, "binary_div"},
    {CL_TENSOR_OP_MIN_QCOM, "binary_min"}, {CL_TENSOR_OP_MAX_QCOM, "binary_max"},
};

static const char *function_of(clml_build *b, cl_binary_op_qcom operation) {
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (FUNCTIONS[i].operation == operation) {
            return FUNCTIONS[i].function;
        }
    }
    clml_require(b, 0, "there is no binary operation %d", (int)operation);
    return NULL;
}

/* B, or NULL for the unused tensor: C = alpha A + gamma C adds A in place. */
static clml_tensor *second_operand(clml_build *b, const cl_ml_op_binary_desc_qcom *desc,
                                   cl_ml_tensor_qcom handle) {
    if (clml_ok(b) && handle) {
        clml_tensor *tensor = clml_find(b->function, CLML_TENSOR, handle);
        if (tensor && tensor->is_unused) {
            clml_require(b, desc->operation == CL_TENSOR_OP_ADD_QCOM,
                         "B is the unused tensor, and the operation is no addition");
            return NULL;
        }
    }
    return clml_input(b, "B", handle);
}

static void combine(clml_build *b, const cl_ml_op_binary_desc_qcom *desc, cl_ml_tensor_qcom a,
                    cl_ml_tensor_qcom other, cl_ml_tensor_qcom c) {
    const clml_tensor *first = clml_input(b, "A", a);
    const clml_tensor *second = second_operand(b, desc, other);
    const clml_tensor *y = clml_output(b, "C", c);
    const float alpha = clml_float_of(b, "alpha", &desc->alpha);
    const float beta = clml_float_of(b, "beta", &desc->beta);
    const float gamma = clml_float_of(b, "gamma", &desc->gamma);
    const char *function = function_of(b, desc->operation);
    clml_require_arithmetic(b, desc->arithmetic_mode);
    clml_require(b, first != second, "A and B are the same tensor");
    clml_require_same_layout(b, "A", first, "C", y);
    clml_require_same_shape(b, "A", first, "C", y);
    if (second) {
        clml_require_same_layout(b, "B", second, "C", y);
        clml_require_same_shape(b, "B", second, "C", y);
    }
    if (clml_ok(b)) {
        clml_use(b, "a", first);
        clml_use(b, "b", second);
        clml_use(b, "y", y);
        clml_pass_float(b, alpha);
        clml_pass_float(b, beta);
        clml_pass_float(b, gamma);
        clml_define(b, "FUNCTION", "%s", function);
        clml_launch(b, "binary", SOURCE, y);
    }
}

cl_int CL_API_CALL clml_create_binary(cl_context context,
                                      const cl_ml_op_properties_qcom *properties,
                                      const cl_ml_op_binary_desc_qcom *desc, cl_ml_tensor_qcom a,
                                      cl_ml_tensor_qcom b, cl_ml_tensor_qcom c, cl_ml_op_qcom *op,
                                      cl_ml_tuningcache_qcom cache) {
    clml_build build;
    clml_begin(&build, "clCreateMLOpBinaryQCOM", context, properties, op, cache);
    clml_require_no_epsilon(&build);
    if (clml_require_desc(&build, "binary", desc)) {
        combine(&build, desc, a, b, c);
    }
    return clml_end(&build);
}
