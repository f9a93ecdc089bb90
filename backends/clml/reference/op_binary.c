/* C = (alpha A) op (beta B) + gamma C, element by element: nothing is broadcast. */
#include "op_checks.h"

static const char SOURCE[] = CLML_SOURCE(
    /* `function` is its position in FUNCTIONS. */
    float combined(float a, float b, int function) {
        switch (function) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return a / b;
        case 4: return b < a || isnan(b) ? b : a;
        }
        return b > a || isnan(b) ? b : a;
    }

    kernel void binary(TENSOR(a), TENSOR(b), RESULT(y), float alpha, float beta, float gamma,
                       int function) {
        ELEMENT(y);
        float value = alpha * READ(a, n, c, h, w);
        if (HAS(b)) {
            value = combined(value, beta * READ(b, n, c, h, w), function);
        }
        if (gamma != 0.0f) {
            value += gamma * READ(y, n, c, h, w);
        }
        WRITE(y, n, c, h, w, value);
    }
);

static const cl_binary_op_qcom FUNCTIONS[] = {
    CL_TENSOR_OP_ADD_QCOM, CL_TENSOR_OP_SUB_QCOM, CL_TENSOR_OP_MUL_QCOM,
    CL_TENSOR_OP_DIV_QCOM, CL_TENSOR_OP_MIN_QCOM, CL_TENSOR_OP_MAX_QCOM,
};

static int function_of(clml_build *b, cl_binary_op_qcom operation) {
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (FUNCTIONS[i] == operation) {
            return (int)i;
        }
    }
    clml_require(b, 0, "there is no binary operation %d", (int)operation);
    return 0;
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
    const int function = function_of(b, desc->operation);
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
        clml_pass_int(b, function);
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
