/* Bilinear resize.
 *
 * With aligned corners, element i of n comes from i (m - 1) / (n - 1) of m. Without, no public
 * source says where it comes from; the reference takes i m / n, ONNX's "asymmetric": the second
 * flag of the descriptor is for what else it could be, half-pixel centres, and TVM, which sets it
 * never, compares a device without aligned corners to exactly this. Half-pixel centres are refused.
 */
#include "op_checks.h"

static const char SOURCE[] = CLML_SOURCE(
    /* Positions are multiples of from / to: integers, so that no rounding moves one. */
    float weight_of(int i, int from, int to) {
        return (float)(i * from % to) / (float)to;
    }

    kernel void resize_bilinear(TENSOR(x), RESULT(y), int2 from, int2 to) {
        ELEMENT(y);
        const int top = h * from.x / to.x;
        const int left = w * from.y / to.y;
        const int bottom = min(top + 1, SIZE_H(x) - 1);
        const int right = min(left + 1, SIZE_W(x) - 1);
        const float down = weight_of(h, from.x, to.x);
        const float across = weight_of(w, from.y, to.y);
        const float above =
            READ(x, n, c, top, left) * (1.0f - across) + READ(x, n, c, top, right) * across;
        const float below =
            READ(x, n, c, bottom, left) * (1.0f - across) + READ(x, n, c, bottom, right) * across;
        WRITE(y, n, c, h, w, above * (1.0f - down) + below * down);
    }
);

static void resize(clml_build *b, int align_corners, const clml_tensor *x, const clml_tensor *y) {
    const int less = align_corners ? 1 : 0;
    const int h_to = y->h > less ? y->h - less : 1;
    const int w_to = y->w > less ? y->w - less : 1;
    clml_use(b, "x", x);
    clml_use(b, "y", y);
    clml_pass_int2(b, x->h - less, x->w - less);
    clml_pass_int2(b, h_to, w_to);
    clml_launch(b, "resize_bilinear", SOURCE, y);
}

cl_int CL_API_CALL clml_create_resize_bilinear(cl_context context,
                                               const cl_ml_op_properties_qcom *properties,
                                               const cl_ml_op_resize_bilinear_desc_qcom *desc,
                                               cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
                                               cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpResizeBilinearQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_feature_map(&b, "input", x);
    clml_require_feature_map(&b, "output", y);
    clml_require(&b, x->c == y->c, "output has %d channels instead of %d", y->c, x->c);
    if (clml_require_desc(&b, "resize", desc)) {
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, desc->half_pixel_centers == CL_FALSE,
                     "half-pixel centres are not known to work");
        if (clml_ok(&b)) {
            resize(&b, desc->align_corners != CL_FALSE, x, y);
        }
    }
    return clml_end(&b);
}
