#include "op_checks.h"

void clml_require_one_image(clml_build *b, const char *role, const clml_tensor *tensor) {
    clml_require(b, tensor->n == 1, "%s has a batch of %d, but only 1 is known to work", role,
                 tensor->n);
}

void clml_require_feature_map(clml_build *b, const char *role, const clml_tensor *tensor) {
    clml_require_layout(b, role, tensor, CL_TENSOR_LAYOUT_OPTIMAL_QCOM);
    clml_require_one_image(b, role, tensor);
}

void clml_require_same_layout(clml_build *b, const char *x_role, const clml_tensor *x,
                              const char *y_role, const clml_tensor *y) {
    clml_require_one_image(b, x_role, x);
    clml_require_one_image(b, y_role, y);
    clml_require(b, x->layout == y->layout, "%s is %s and %s is %s: the layouts differ", x_role,
                 clml_describe(x), y_role, clml_describe(y));
}

void clml_require_same_shape(clml_build *b, const char *x_role, const clml_tensor *x,
                             const char *y_role, const clml_tensor *y) {
    clml_require(b, x->n == y->n && x->c == y->c && x->h == y->h && x->w == y->w,
                 "%s is %s and %s is %s: the sizes differ, and nothing is broadcast", x_role,
                 clml_describe(x), y_role, clml_describe(y));
}

void clml_require_vector(clml_build *b, const char *role, const clml_tensor *tensor,
                         int channels) {
    if (tensor) {
        clml_require_layout(b, role, tensor, CL_TENSOR_LAYOUT_OPTIMAL_QCOM);
        clml_require_shape(b, role, tensor, 1, channels, 1, 1);
    }
}

void clml_require_pair(clml_build *b, const char *what, const cl_uint *pair, cl_uint least) {
    for (int i = 0; i < 2; i++) {
        clml_require(b, pair[i] >= least && pair[i] <= CLML_MAX_SIZE,
                     "%s along %c is %u, which is not in %u..%d", what, "HW"[i], pair[i], least,
                     CLML_MAX_SIZE);
    }
}

void clml_require_windows(clml_build *b, const clml_windows *windows, const clml_tensor *input,
                          const clml_tensor *output) {
    const int sizes[] = {input->h, input->w};
    const int counts[] = {output->h, output->w};
    for (int i = 0; i < 2 && clml_ok(b); i++) {
        long long padded = (long long)windows->before[i] + sizes[i] + windows->after[i];
        long long extent = (long long)windows->dilations[i] * (windows->size[i] - 1) + 1;
        clml_require(b, extent <= padded,
                     "the window covers %lld elements along %c, the padded input has %lld", extent,
                     "HW"[i], padded);
        if (clml_ok(b)) {
            long long wanted = (padded - extent) / windows->strides[i] + 1;
            clml_require(b, counts[i] == wanted, "output has %d elements along %c instead of %lld",
                         counts[i], "HW"[i], wanted);
        }
    }
}

void clml_require_no_epsilon(clml_build *b) {
    clml_require(b, !b->has_epsilon, "an epsilon is given to an operation without batch norm");
}
