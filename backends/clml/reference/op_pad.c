/* Padding along H and W: zeros, or mirrored at the edge with it (symmetric) or without (reflect). */
#include "op_checks.h"

static const char SOURCE[] = CLML_SOURCE(
    kernel void zeros(TENSOR(x), RESULT(y), int2 before, int edge) {
        ELEMENT(y);
        const int i = h - before.x;
        const int j = w - before.y;
        const int is_inside = i >= 0 && i < SIZE_H(x) && j >= 0 && j < SIZE_W(x);
        WRITE(y, n, c, h, w, is_inside ? READ(x, n, c, i, j) : 0.0f);
    }

    /* `edge` is 1 where the edge is repeated. */
    int mirrored(int i, int size, int edge) {
        return i < 0 ? -i - edge : i < size ? i : 2 * size - 2 + edge - i;
    }

    kernel void mirror(TENSOR(x), RESULT(y), int2 before, int edge) {
        ELEMENT(y);
        const int i = mirrored(h - before.x, SIZE_H(x), edge);
        const int j = mirrored(w - before.y, SIZE_W(x), edge);
        WRITE(y, n, c, h, w, READ(x, n, c, i, j));
    }
);

enum { H_BEFORE, H_AFTER, W_BEFORE, W_AFTER, WIDTHS = 8 };

static void require_widths(clml_build *b, const cl_ml_op_pad_desc_qcom *desc, const clml_tensor *x,
                           const clml_tensor *y) {
    const cl_uint *widths = desc->pad_widths;
    clml_require(b, desc->reserved[0] == 0 && desc->reserved[1] == 0,
                 "the descriptor's reserved members are %u and %u instead of 0", desc->reserved[0],
                 desc->reserved[1]);
    for (int i = H_BEFORE; i <= W_AFTER; i++) {
        const int size = i <= H_AFTER ? x->h : x->w;
        const int most = desc->mode == CL_PAD_MODE_CONSTANT_QCOM    ? CLML_MAX_SIZE
                         : desc->mode == CL_PAD_MODE_SYMMETRIC_QCOM ? size
                                                                    : size - 1;
        clml_require(b, widths[i] <= (cl_uint)most,
                     "pad width %d is %u, but in this mode %d elements can be padded by %d at most",
                     i, widths[i], size, most);
    }
    for (int i = W_AFTER + 1; i < WIDTHS; i++) {
        clml_require(b, widths[i] == 0, "pad width %d is %u, but only H and W are padded", i,
                     widths[i]);
    }
    if (clml_ok(b)) {
        clml_require_shape(b, "output", y, 1, x->c, x->h + (int)(widths[H_BEFORE] + widths[H_AFTER]),
                           x->w + (int)(widths[W_BEFORE] + widths[W_AFTER]));
    }
}

cl_int CL_API_CALL clml_create_pad(cl_context context, const cl_ml_op_properties_qcom *properties,
                                   const cl_ml_op_pad_desc_qcom *desc, cl_ml_tensor_qcom input,
                                   cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
                                   cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpPadQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_feature_map(&b, "input", x);
    clml_require_feature_map(&b, "output", y);
    if (clml_require_desc(&b, "pad", desc)) {
        const int is_constant = desc->mode == CL_PAD_MODE_CONSTANT_QCOM;
        const int is_symmetric = desc->mode == CL_PAD_MODE_SYMMETRIC_QCOM;
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, is_constant || is_symmetric || desc->mode == CL_PAD_MODE_REFLECT_QCOM,
                     "there is no pad mode %d", (int)desc->mode);
        require_widths(&b, desc, x, y);
        if (clml_ok(&b)) {
            clml_use(&b, "x", x);
            clml_use(&b, "y", y);
            clml_pass_int2(&b, (int)desc->pad_widths[H_BEFORE], (int)desc->pad_widths[W_BEFORE]);
            clml_pass_int(&b, is_symmetric);
            clml_launch(&b, is_constant ? "zeros" : "mirror", SOURCE, y);
        }
    }
    return clml_end(&b);
}
