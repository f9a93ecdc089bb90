/* Softmax: over the channels of each pixel, or over a whole image. */
#include "op_checks.h"

static const char SOURCE[] = CLML_SOURCE(
    /* The exponential of an element over the sum of those of `span` from `first` on, `step` apart in
       the order of NCHW. The largest is subtracted first, so that none overflows. */
    float share(TENSOR(x), int at, int first, int span, int step) {
        float largest = -INFINITY;
        float sum = 0.0f;
        for (int i = 0; i < span; i++) {
            const float value = READ_FLAT(x, first + i * step);
            largest = isnan(value) || value > largest ? value : largest;
        }
        for (int i = 0; i < span; i++) {
            sum += exp(READ_FLAT(x, first + i * step) - largest);
        }
        return exp(READ_FLAT(x, at) - largest) / sum;
    }

    kernel void spatial(TENSOR(x), RESULT(y)) {
        ELEMENT(y);
        const int plane = SIZE_H(x) * SIZE_W(x);
        const int first = n * SIZE_C(x) * plane + h * SIZE_W(x) + w;
        WRITE(y, n, c, h, w, share(x, x_shape, first + c * plane, first, SIZE_C(x), plane));
    }

    kernel void instance(TENSOR(x), RESULT(y)) {
        ELEMENT(y);
        const int plane = SIZE_H(x) * SIZE_W(x);
        const int first = n * SIZE_C(x) * plane;
        const int at = first + c * plane + h * SIZE_W(x) + w;
        WRITE(y, n, c, h, w, share(x, x_shape, at, first, SIZE_C(x) * plane, 1));
    }
);

/* Vectors are OPTIMAL, maps NCHW: other layouts are not known to work. */
static void require_tensors(clml_build *b, const clml_tensor *x, const clml_tensor *y) {
    const int is_vector = x->h == 1 && x->w == 1;
    const cl_ml_tensor_layout_qcom layout =
        is_vector ? CL_TENSOR_LAYOUT_OPTIMAL_QCOM : CL_TENSOR_LAYOUT_NCHW_QCOM;
    clml_require(b, x->layout == layout, "input is %s, but %s", clml_describe(x),
                 is_vector ? "vectors are OPTIMAL" : "maps are NCHW");
    clml_require_same_layout(b, "input", x, "output", y);
    clml_require_same_shape(b, "input", x, "output", y);
}

cl_int CL_API_CALL clml_create_softmax(cl_context context,
                                       const cl_ml_op_properties_qcom *properties,
                                       const cl_ml_op_softmax_desc_qcom *desc,
                                       cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
                                       cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpSoftmaxQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    require_tensors(&b, x, y);
    if (clml_require_desc(&b, "softmax", desc)) {
        const int is_spatial = desc->mode == CL_SOFTMAX_MODE_SPATIAL_QCOM;
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, desc->algorithm == CL_SOFTMAX_ALGORITHM_ACCURATE_QCOM,
                     "there is no softmax algorithm %d", (int)desc->algorithm);
        clml_require(&b, is_spatial || desc->mode == CL_SOFTMAX_MODE_INSTANCE_QCOM,
                     "there is no softmax mode %d", (int)desc->mode);
        if (clml_ok(&b)) {
            clml_use(&b, "x", x);
            clml_use(&b, "y", y);
            clml_launch(&b, is_spatial ? "spatial" : "instance", SOURCE, y);
        }
    }
    return clml_end(&b);
}
