/* Operations that move elements: reshape, concatenation, depth to space. */
#include "op_checks.h"

static const char RESHAPE[] = CLML_SOURCE(
    kernel void reshape(TENSOR(x), RESULT(y)) {
        ELEMENT(y);
        const int i = ((n * SIZE_C(y) + c) * SIZE_H(y) + h) * SIZE_W(y) + w;
        WRITE(y, n, c, h, w, READ_FLAT(x, i));
    }
);

static const char CONCAT[] = CLML_SOURCE(
    kernel void concat(TENSOR(x), RESULT(y), int first_channel) {
        ELEMENT(x);
        WRITE(y, n, first_channel + c, h, w, READ(x, n, c, h, w));
    }
);

static const char DEPTH_TO_SPACE[] = CLML_SOURCE(
    kernel void depth_to_space(TENSOR(x), RESULT(y), int block) {
        ELEMENT(y);
        const int channel = (h % block * block + w % block) * SIZE_C(y) + c;
        WRITE(y, n, c, h, w, READ(x, n, channel, h / block, w / block));
    }
);

cl_int CL_API_CALL clml_create_reshape(cl_context context,
                                       const cl_ml_op_properties_qcom *properties,
                                       cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
                                       cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpReshapeQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_same_layout(&b, "input", x, "output", y);
    clml_require(&b, x->layout != CL_TENSOR_LAYOUT_NHWC_QCOM,
                 "input is %s, but only OPTIMAL and NCHW are reshaped", clml_describe(x));
    clml_require(&b, clml_tensor_elements(x) == clml_tensor_elements(y),
                 "input is %s and output is %s: the numbers of elements differ", clml_describe(x),
                 clml_describe(y));
    if (clml_ok(&b)) {
        clml_use(&b, "x", x);
        clml_use(&b, "y", y);
        clml_launch(&b, "reshape", RESHAPE, y);
    }
    return clml_end(&b);
}

/* One launch for each input; the channels that all have. */
static int concatenate(clml_build *b, const cl_ml_op_concat_desc_qcom *desc,
                       const cl_ml_tensor_qcom *inputs, const clml_tensor *y) {
    int channels = 0;
    for (cl_uint i = 0; i < desc->num_inputs && clml_ok(b); i++) {
        clml_tensor *x = clml_input(b, "input", inputs[i]);
        clml_require_feature_map(b, "input", x);
        clml_require(b, x->h == y->h && x->w == y->w && channels + x->c <= y->c,
                     "input %u is %s, which does not fit into the output, %s, from channel %d on",
                     i, clml_describe(x), clml_describe(y), channels);
        if (clml_ok(b)) {
            clml_use(b, "x", x);
            clml_use(b, "y", y);
            clml_pass_int(b, channels);
            clml_launch(b, "concat", CONCAT, x);
        }
        channels += x->c;
    }
    return channels;
}

cl_int CL_API_CALL clml_create_concat(cl_context context,
                                      const cl_ml_op_properties_qcom *properties,
                                      const cl_ml_op_concat_desc_qcom *desc,
                                      const cl_ml_tensor_qcom *inputs, cl_ml_tensor_qcom output,
                                      cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpConcatQCOM", context, properties, op, cache);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_feature_map(&b, "output", y);
    clml_require(&b, inputs != NULL, "the array of inputs is NULL");
    if (clml_require_desc(&b, "concat", desc)) {
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, desc->axis == 1, "the axis is %u, but only 1 is known to work",
                     desc->axis);
        clml_require(&b, desc->num_inputs >= 2 && desc->num_inputs < CLML_MAX_TENSORS,
                     "there are %u inputs, which is not in 2..%d", desc->num_inputs,
                     CLML_MAX_TENSORS - 1);
        if (clml_ok(&b)) {
            int channels = concatenate(&b, desc, inputs, y);
            clml_require(&b, channels == y->c, "output is %s, but the inputs have %d channels",
                         clml_describe(y), channels);
        }
    }
    return clml_end(&b);
}

cl_int CL_API_CALL clml_create_depth_to_space(cl_context context,
                                              const cl_ml_op_properties_qcom *properties,
                                              const cl_ml_op_depthtospace_desc_qcom *desc,
                                              cl_ml_tensor_qcom input, cl_ml_tensor_qcom output,
                                              cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    clml_build b;
    clml_begin(&b, "clCreateMLOpDepthToSpaceQCOM", context, properties, op, cache);
    clml_tensor *x = clml_input(&b, "input", input);
    clml_tensor *y = clml_output(&b, "output", output);
    clml_require_no_epsilon(&b);
    clml_require_feature_map(&b, "input", x);
    clml_require_feature_map(&b, "output", y);
    if (clml_require_desc(&b, "depth to space", desc)) {
        const int block = desc->block_size <= 181 ? (int)desc->block_size : 0; /* 181 * 181 < 32768 */
        clml_require_arithmetic(&b, desc->arithmetic_mode);
        clml_require(&b, block >= 1 && x->c % (block * block) == 0,
                     "%d channels cannot become blocks of %u x %u", x->c, desc->block_size,
                     desc->block_size);
        if (clml_ok(&b)) {
            clml_require_shape(&b, "output", y, 1, x->c / (block * block), x->h * block,
                               x->w * block);
            clml_use(&b, "x", x);
            clml_use(&b, "y", y);
            clml_pass_int(&b, block);
            clml_launch(&b, "depth_to_space", DEPTH_TO_SPACE, y);
        }
    }
    return clml_end(&b);
}
