/* Matrix products: fully connected layers and gemm. */
#include "op_checks.h"

static const char FULLY_CONNECTED[] = CLML_SOURCE(
    kernel void fully_connected(TENSOR(x), TENSOR(weight), TENSOR(bias), RESULT(y),
                                int is_transposed) {
        ELEMENT(y);
        float sum = 0.0f;
        for (int k = 0; k < SIZE_C(x); k++) {
            const int row = is_transposed ? c : k;
            const int column = is_transposed ? k : c;
            sum += READ_OPTIMAL(x, 0, k, 0, 0) * READ_OPTIMAL(weight, 0, 0, row, column);
        }
        if (HAS(bias)) {
            sum += READ(bias, 0, c, 0, 0);
        }
        WRITE(y, 0, c, 0, 0, sum);
    }
);

/* Matrices row by row: all are NCHW. */
static const char GEMM[] = CLML_SOURCE(
    kernel void gemm(TENSOR(a), TENSOR(b), RESULT(y), int4 m_n_k, int2 is_transposed, float alpha,
                     float beta) {
        ELEMENT(y);
        const int at = ((n * SIZE_C(y) + c) * SIZE_H(y) + h) * SIZE_W(y) + w;
        const int row = at / m_n_k.y;
        const int column = at % m_n_k.y;
        float sum = 0.0f;
        for (int k = 0; k < m_n_k.z; k++) {
            const int a_at = is_transposed.x ? k * m_n_k.x + row : row * m_n_k.z + k;
            const int b_at = is_transposed.y ? column * m_n_k.z + k : k * m_n_k.y + column;
            sum += LOAD(a, a_at) * LOAD(b, b_at);
        }
        sum *= alpha;
        if (beta != 0.0f) {
            sum += beta * LOAD(y, at);
        }
        STORE(y, at, sum);
    }
);

static void require_layer(clml_build *b, const cl_ml_op_fully_connected_desc_qcom *desc,
                          const clml_tensor *x, const clml_tensor *weight, const clml_tensor *y) {
    const int transposed = desc->weight_transform == CL_FC_WEIGHT_TRANSFORM_TRANSPOSE_QCOM;
    clml_require_arithmetic(b, desc->arithmetic_mode);
    clml_require(b, transposed || desc->weight_transform == CL_FC_WEIGHT_TRANSFORM_NONE_QCOM,
                 "there is no weight transform %d", (int)desc->weight_transform);
    clml_require(b, desc->axis == 1, "the descriptor's first member is %u instead of 1",
                 desc->axis);
    clml_require_shape(b, "input", x, 1, x->c, 1, 1);
    clml_require_shape(b, "output", y, 1, y->c, 1, 1);
    clml_require_shape(b, "weight", weight, 1, 1, transposed ? y->c : x->c,
                       transposed ? x->c : y->c);
}

cl_int CL_API_CALL clml_create_fully_connected(cl_context context,
                                               const cl_ml_op_properties_qcom *properties,
                                               const cl_ml_op_fully_connected_desc_qcom *desc,
                                               cl_ml_tensor_qcom input, cl_ml_tensor_qcom weight,
                                               cl_ml_tensor_qcom bias, cl_ml_tensor_qcom output,
                                               cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpFullyConnectedQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *factors = clml_parameter(&b, "weight", weight);
    clml_tensor *terms = clml_optional_parameter(&b, "bias", bias);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_feature_map(&b, "input", x);
    clml_require_layout(&b, "weight", factors, CL_TENSOR_LAYOUT_OPTIMAL_QCOM);
    clml_require_feature_map(&b, "output", y);
    clml_require_vector(&b, "bias", terms, y->c);
    if (clml_require_desc(&b, "fully connected", desc)) {
        require_layer(&b, desc, x, factors, y);
        if (clml_ok(&b)) {
            clml_use(&b, "x", x);
            clml_use(&b, "weight", factors);
            clml_use(&b, "bias", terms);
            clml_use(&b, "y", y);
            clml_pass_int(&b, desc->weight_transform == CL_FC_WEIGHT_TRANSFORM_TRANSPOSE_QCOM);
            clml_launch(&b, "fully_connected", FULLY_CONNECTED, y);
        }
    }
    return clml_end(&b);
}

static int is_transposed(clml_build *b, const char *what, cl_gemm_transform_qcom transform) {
    clml_require(b, transform == CL_GEMM_TRANSFORM_NONE_QCOM ||
                        transform == CL_GEMM_TRANSFORM_TRANSPOSE_QCOM,
                 "there is no transform %d of %s", (int)transform, what);
    return transform == CL_GEMM_TRANSFORM_TRANSPOSE_QCOM;
}

/* A is m x k x 1 x 1, B 1 x 1 x k x n, both possibly transposed, C is m x n x 1 x 1. */
static void require_matrices(clml_build *b, const cl_ml_op_gemm_desc_qcom *desc,
                             const clml_tensor *a, const clml_tensor *factor,
                             const clml_tensor *y) {
    const int m = (int)desc->m, n = (int)desc->n, k = (int)desc->k;
    const int a_transposed = is_transposed(b, "A", desc->transform_a);
    const int b_transposed = is_transposed(b, "B", desc->transform_b);
    clml_require_layout(b, "A", a, CL_TENSOR_LAYOUT_NCHW_QCOM);
    clml_require_layout(b, "B", factor, CL_TENSOR_LAYOUT_NCHW_QCOM);
    clml_require_layout(b, "C", y, CL_TENSOR_LAYOUT_NCHW_QCOM);
    clml_require_shape(b, "A", a, a_transposed ? k : m, a_transposed ? m : k, 1, 1);
    clml_require_shape(b, "B", factor, 1, 1, b_transposed ? n : k, b_transposed ? k : n);
    clml_require_shape(b, "C", y, m, n, 1, 1);
}

static void multiply(clml_build *b, const cl_ml_op_gemm_desc_qcom *desc, const clml_tensor *a,
                     const clml_tensor *factor, const clml_tensor *y) {
    const float alpha = clml_float_of(b, "alpha", &desc->alpha);
    const float beta = clml_float_of(b, "beta", &desc->beta);
    clml_require_arithmetic(b, desc->arithmetic_mode);
    require_matrices(b, desc, a, factor, y);
    if (clml_ok(b)) {
        clml_use(b, "a", a);
        clml_use(b, "b", factor);
        clml_use(b, "y", y);
        clml_pass_int4(b, (int)desc->m, (int)desc->n, (int)desc->k, 0);
        clml_pass_int2(b, desc->transform_a == CL_GEMM_TRANSFORM_TRANSPOSE_QCOM,
                       desc->transform_b == CL_GEMM_TRANSFORM_TRANSPOSE_QCOM);
        clml_pass_float(b, alpha);
        clml_pass_float(b, beta);
        clml_launch(b, "gemm", GEMM, y);
    }
}

cl_int CL_API_CALL clml_create_gemm(cl_context context, const cl_ml_op_properties_qcom *properties,
                                    const cl_ml_op_gemm_desc_qcom *desc, cl_ml_tensor_qcom a,
                                    cl_ml_tensor_qcom b, cl_ml_tensor_qcom c, cl_ml_op_qcom *op,
                                    cl_ml_tuningcache_qcom cache) {
    clml_build build;
    clml_begin(&build, "clCreateMLOpGemmQCOM", context, properties, op, cache);
    clml_tensor *left = clml_input(&build, "A", a);
    clml_tensor *right = clml_input(&build, "B", b);
    clml_tensor *product = clml_output(&build, "C", c);
    clml_require_no_epsilon(&build);
    if (clml_require_desc(&build, "gemm", desc)) {
        multiply(&build, desc, left, right, product);
    }
    return clml_end(&build);
}
