/* Pooling: the largest element of each window, or the average of those that are no padding. */
#include "op_checks.h"

static const char SOURCE[] = CLML_SOURCE(
    kernel void largest(TENSOR(x), RESULT(y), int2 window, int2 stride, int2 pad) {
        ELEMENT(y);
        float largest = -INFINITY;
        for (int i = 0; i < window.x; i++) {
            for (int j = 0; j < window.y; j++) {
                const int from_h = h * stride.x - pad.x + i;
                const int from_w = w * stride.y - pad.y + j;
                if (from_h >= 0 && from_h < SIZE_H(x) && from_w >= 0 && from_w < SIZE_W(x)) {
                    const float value = READ(x, n, c, from_h, from_w);
                    largest = isnan(value) || value > largest ? value : largest;
                }
            }
        }
        WRITE(y, n, c, h, w, largest);
    }

    kernel void average(TENSOR(x), RESULT(y), int2 window, int2 stride, int2 pad) {
        ELEMENT(y);
        float sum = 0.0f;
        int count = 0;
        for (int i = 0; i < window.x; i++) {
            for (int j = 0; j < window.y; j++) {
                const int from_h = h * stride.x - pad.x + i;
                const int from_w = w * stride.y - pad.y + j;
                if (from_h >= 0 && from_h < SIZE_H(x) && from_w >= 0 && from_w < SIZE_W(x)) {
                    sum += READ(x, n, c, from_h, from_w);
                    count++;
                }
            }
        }
        WRITE(y, n, c, h, w, sum / count);
    }
);

static void require_windows(clml_build *b, const cl_ml_op_pooling_desc_qcom *desc,
                            const clml_tensor *x, const clml_tensor *y) {
    static const cl_uint undilated[] = {1, 1};
    const clml_windows windows = {desc->window, desc->input_pad_before, desc->input_pad_after,
                                  desc->strides, undilated};
    clml_require_pair(b, "the padding before", desc->input_pad_before, 0);
    clml_require_pair(b, "the padding after", desc->input_pad_after, 0);
    clml_require_pair(b, "the stride", desc->strides, 1);
    clml_require_pair(b, "the window", desc->window, 1);
    for (int i = 0; i < 2; i++) {
        clml_require(b, desc->input_pad_before[i] < desc->window[i] &&
                            desc->input_pad_after[i] < desc->window[i],
                     "a window of %u along %c lies in padding of %u and %u alone", desc->window[i],
                     "HW"[i], desc->input_pad_before[i], desc->input_pad_after[i]);
    }
    clml_require_windows(b, &windows, x, y);
    clml_require(b, x->c == y->c, "output has %d channels instead of %d", y->c, x->c);
}

cl_int CL_API_CALL clml_create_pooling(cl_context context,
                                       const cl_ml_op_properties_qcom *properties,
                                       const cl_ml_op_pooling_desc_qcom *desc,
                                       cl_ml_tensor_qcom input, cl_ml_tensor_qcom mask,
                                       cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
                                       cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpPoolingForwardQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_no_tensor(&b, "the tensor before the output", mask);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_feature_map(&b, "input", x);
    clml_require_feature_map(&b, "output", y);
    if (clml_require_desc(&b, "pooling", desc)) {
        const int is_average = desc->mode == CL_POOLING_MODE_AVERAGE_EXCLUDE_PADDING_QCOM;
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, is_average || desc->mode == CL_POOLING_MODE_MAX_QCOM,
                     "there is no pooling mode %d", (int)desc->mode);
        clml_require(&b, desc->nan_propagation == CL_PROPAGATE_NAN_QCOM,
                     "there is no NaN mode %d", (int)desc->nan_propagation);
        clml_require(&b, desc->num_dimensions == 4,
                     "the descriptor's second member is %u instead of 4", desc->num_dimensions);
        require_windows(&b, desc, x, y);
        if (clml_ok(&b)) {
            clml_use(&b, "x", x);
            clml_use(&b, "y", y);
            clml_pass_int2(&b, (int)desc->window[0], (int)desc->window[1]);
            clml_pass_int2(&b, (int)desc->strides[0], (int)desc->strides[1]);
            clml_pass_int2(&b, (int)desc->input_pad_before[0], (int)desc->input_pad_before[1]);
            clml_launch(&b, is_average ? "average" : "largest", SOURCE, y);
        }
    }
    return clml_end(&b);
}
