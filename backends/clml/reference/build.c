/* How operations are made: checks of their tensors, and their kernels. */
#include "reference.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What checks get after a failure. */
static clml_tensor nothing = {.is_unused = 1,
                              .type = CL_FLOAT,
                              .layout = CL_TENSOR_LAYOUT_NCHW_QCOM,
                              .n = 1,
                              .c = 1,
                              .h = 1,
                              .w = 1};

int clml_ok(const clml_build *b) { return b->error == CL_SUCCESS; }

static void fail(clml_build *b, cl_int error, const char *sentence) {
    if (clml_ok(b)) {
        b->error = clml_refuse(b->function, error, "%s", sentence);
    }
}

int clml_require(clml_build *b, int condition, const char *format, ...) {
    if (clml_ok(b) && !condition) {
        char sentence[1024];
        va_list rest;
        va_start(rest, format);
        vsnprintf(sentence, sizeof sentence, format, rest);
        va_end(rest);
        fail(b, CL_INVALID_VALUE, sentence);
    }
    return clml_ok(b);
}

static void destroy(clml_object *object) {
    clml_op *op = (clml_op *)object;
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        clml_drop(op->tensors[i]);
    }
    for (cl_uint i = 0; i < op->launch_count; i++) {
        clReleaseKernel(op->launches[i].kernel);
    }
    free(op->launches);
    clml_drop_context(op->context);
    free(op);
}

/* Reads the list of properties, which ends with 0. */
static void read_properties(clml_build *b, const cl_ml_op_properties_qcom *properties) {
    b->epsilon = 1e-5f;
    if (!properties || *properties == CL_ML_OP_PROPERTY_LIST_END_QCOM) {
        return;
    }
    if (!clml_require(b, properties[0] == CL_ML_BATCH_NORM_OP_EPSILON_QCOM,
                      "there is no property %ld", (long)properties[0]) ||
        !clml_require(b, clml_device_version() >= 3,
                      "the epsilon of batch norms is a property from version 3 on, and this "
                      "device has %d",
                      clml_device_version()) ||
        !clml_require(b, properties[2] == CL_ML_OP_PROPERTY_LIST_END_QCOM,
                      "the list of properties has no end after the epsilon")) {
        return;
    }
    cl_uint bits = (cl_uint)properties[1]; /* above them lies whatever was in memory */
    memcpy(&b->epsilon, &bits, sizeof bits);
    b->has_epsilon = 1;
    clml_require(b, isfinite(b->epsilon) && b->epsilon >= 0, "the epsilon must not be negative");
}

void clml_begin(clml_build *b, const char *function, cl_context context,
                const cl_ml_op_properties_qcom *properties, cl_ml_op_qcom *op,
                cl_ml_tuningcache_qcom cache) {
    clml_lock();
    memset(b, 0, sizeof *b);
    b->function = function;
    b->out = op;
    if (!clml_require(b, op != NULL, "the place for the operation is NULL")) {
        return;
    }
    *op = NULL;
    read_properties(b, properties);
    if (cache && clml_ok(b) && !clml_find(function, CLML_CACHE, cache)) {
        b->error = CL_INVALID_VALUE;
    }
    if (!clml_ok(b)) {
        return;
    }
    b->context = clml_find_context(function, context);
    if (!b->context) {
        b->error = CL_INVALID_CONTEXT;
        return;
    }
    b->op = clml_new(CLML_OP, sizeof *b->op, destroy);
    if (!b->op) {
        clml_drop_context(b->context);
        fail(b, CL_OUT_OF_HOST_MEMORY, "out of memory");
        return;
    }
    b->op->context = b->context;
    b->op->name = function;
    b->op->digest = 0xCBF29CE484222325u;
}

cl_int clml_end(clml_build *b) {
    clml_require(b, b->op && b->op->launch_count, "the operation computes nothing");
    if (clml_ok(b)) {
        *b->out = clml_publish(b->op);
        if (!*b->out) {
            fail(b, CL_OUT_OF_HOST_MEMORY, "out of memory");
        }
    }
    if (clml_ok(b)) {
        const clml_op *op = b->op;
        for (cl_uint i = 0; i < op->tensor_count; i++) {
            op->tensors[i]->is_referenced = 1;
            clml_trace(b->function, "%s %s", op->roles[i], clml_describe(op->tensors[i]));
        }
    } else {
        clml_drop(b->op);
    }
    clml_unlock();
    return b->error;
}

/* Adds a live, used tensor of the context and of the others' type. */
static clml_tensor *add(clml_build *b, const char *role, clml_tensor *tensor, int is_output) {
    clml_op *op = b->op;
    if (!clml_require(b, op->tensor_count < CLML_MAX_TENSORS,
                      "an operation of this library has at most %d tensors", CLML_MAX_TENSORS) ||
        !clml_require(b, tensor->context == b->context, "the tensor %s is of another context",
                      role) ||
        !clml_require(b, !b->type || tensor->type == b->type,
                      "%s is %s, but the tensors before it have another type", role,
                      clml_describe(tensor))) {
        return &nothing;
    }
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        if (!clml_require(b, op->tensors[i] != tensor || (!is_output && !op->is_output[i]),
                          "%s and %s are one tensor: no operation works in place", op->roles[i],
                          role)) {
            return &nothing;
        }
    }
    clml_retain(tensor);
    b->type = tensor->type;
    op->tensors[op->tensor_count] = tensor;
    op->roles[op->tensor_count] = role;
    op->is_output[op->tensor_count++] = is_output;
    return tensor;
}

/* The tensor of a handle, or NULL after a failure. */
static clml_tensor *find(clml_build *b, const char *role, cl_ml_tensor_qcom handle) {
    if (!clml_require(b, handle != NULL, "the tensor %s is NULL", role)) {
        return NULL;
    }
    clml_tensor *tensor = clml_find(b->function, CLML_TENSOR, handle);
    if (!tensor) {
        b->error = CL_INVALID_VALUE;
    }
    return tensor;
}

static clml_tensor *find_used(clml_build *b, const char *role, cl_ml_tensor_qcom handle,
                              int is_output) {
    clml_tensor *tensor = find(b, role, handle);
    if (!tensor || !clml_require(b, !tensor->is_unused,
                                 "the tensor %s is an unused one, but its data are needed",
                                 role)) {
        return &nothing;
    }
    return add(b, role, tensor, is_output);
}

clml_tensor *clml_input(clml_build *b, const char *role, cl_ml_tensor_qcom handle) {
    return find_used(b, role, handle, 0);
}

clml_tensor *clml_output(clml_build *b, const char *role, cl_ml_tensor_qcom handle) {
    clml_tensor *tensor = find_used(b, role, handle, 1);
    clml_require(b, tensor->usage != CL_TENSOR_USAGE_PARAMETER_QCOM,
                 "the tensor %s is a PARAMETER, which no operation writes", role);
    return tensor;
}

static void require_parameter(clml_build *b, const char *role, const clml_tensor *tensor) {
    clml_require(b, !tensor->has_usage || tensor->usage == CL_TENSOR_USAGE_PARAMETER_QCOM,
                 "the tensor %s must have CL_TENSOR_USAGE_PARAMETER_QCOM", role);
}

clml_tensor *clml_parameter(clml_build *b, const char *role, cl_ml_tensor_qcom handle) {
    clml_tensor *tensor = find_used(b, role, handle, 0);
    require_parameter(b, role, tensor);
    return tensor;
}

clml_tensor *clml_optional_parameter(clml_build *b, const char *role, cl_ml_tensor_qcom handle) {
    clml_tensor *tensor = find(b, role, handle);
    if (!tensor || tensor->is_unused) {
        return NULL;
    }
    tensor = add(b, role, tensor, 0);
    require_parameter(b, role, tensor);
    return clml_ok(b) ? tensor : NULL;
}

void clml_no_tensor(clml_build *b, const char *role, cl_ml_tensor_qcom handle) {
    if (handle && clml_ok(b)) {
        const clml_tensor *tensor = find(b, role, handle);
        clml_require(b, tensor && tensor->is_unused,
                     "the tensor %s must be NULL or an unused one", role);
    }
}

int clml_require_layout(clml_build *b, const char *role, const clml_tensor *tensor,
                        cl_ml_tensor_layout_qcom layout) {
    return clml_require(b, tensor->layout == layout, "%s is %s, and must be %s", role,
                        clml_describe(tensor), clml_layout_name(layout));
}

int clml_require_shape(clml_build *b, const char *role, const clml_tensor *tensor, int n, int c,
                       int h, int w) {
    return clml_require(b, tensor->n == n && tensor->c == c && tensor->h == h && tensor->w == w,
                        "%s is %s, and must be %dx%dx%dx%d", role, clml_describe(tensor), n, c, h,
                        w);
}

int clml_require_arithmetic(clml_build *b, cl_arithmetic_mode_qcom mode) {
    if (b->type == CL_HALF_FLOAT) {
        return clml_require(b,
                            mode == CL_ARITHMETIC_MODE_FP16_QCOM ||
                                mode == CL_ARITHMETIC_MODE_FP16_ACC32_QCOM,
                            "the arithmetic mode of half tensors must be FP16 or FP16_ACC32");
    }
    return clml_require(b, mode == CL_ARITHMETIC_MODE_FP32_QCOM,
                        "the arithmetic mode of float tensors must be FP32");
}

int clml_require_desc(clml_build *b, const char *what, const void *desc) {
    return clml_require(b, desc != NULL, "the %s descriptor is NULL", what);
}

float clml_float_of(clml_build *b, const char *what, const clml_reference_value *value) {
    return clml_require(b, value->type == CL_FLOAT, "the type of %s must be CL_FLOAT", what)
               ? value->value.f32
               : 0;
}

void clml_type_options(char text[CLML_OPTION_BYTES], cl_channel_type type) {
    int is_half = type == CL_HALF_FLOAT;
    snprintf(text, CLML_OPTION_BYTES,
             "-D DATA=%s -D IS_HALF=%d -D ROW_ELEMENTS=%d -D NCHW=%d -D NHWC=%d",
             is_half ? "half" : "float", is_half, is_half ? 32 : 16,
             (int)CL_TENSOR_LAYOUT_NCHW_QCOM, (int)CL_TENSOR_LAYOUT_NHWC_QCOM);
}

void clml_use(clml_build *b, const char *name, const clml_tensor *tensor) {
    clml_kernel_launch *launch = &b->launch;
    if (!clml_require(b, launch->tensor_count < CLML_MAX_PARAMETERS,
                      "a kernel has too many tensors")) {
        return;
    }
    int index = -1;
    for (cl_uint i = 0; tensor && i < b->op->tensor_count; i++) {
        if (b->op->tensors[i] == tensor) {
            index = (int)i;
        }
    }
    if (!clml_require(b, !tensor || index >= 0, "the tensor %s is none of the operation's", name)) {
        return;
    }
    launch->tensors[launch->tensor_count++] = index;
}

/* A place for a scalar of so many bytes. */
static clml_scalar *next_scalar(clml_build *b, size_t bytes) {
    static clml_scalar lost;
    if (!clml_require(b, b->scalar_count < CLML_MAX_SCALARS, "a kernel has too many scalars")) {
        return &lost;
    }
    clml_scalar *scalar = &b->scalars[b->scalar_count++];
    scalar->bytes = bytes;
    return scalar;
}

void clml_pass_int(clml_build *b, int value) {
    next_scalar(b, sizeof(cl_int))->value.i[0] = value;
}

void clml_pass_int2(clml_build *b, int first, int second) {
    clml_scalar *scalar = next_scalar(b, sizeof(cl_int2));
    scalar->value.i[0] = first;
    scalar->value.i[1] = second;
}

void clml_pass_int4(clml_build *b, int first, int second, int third, int fourth) {
    clml_scalar *scalar = next_scalar(b, sizeof(cl_int4));
    scalar->value.i[0] = first;
    scalar->value.i[1] = second;
    scalar->value.i[2] = third;
    scalar->value.i[3] = fourth;
}

void clml_pass_float(clml_build *b, float value) {
    next_scalar(b, sizeof(cl_float))->value.f[0] = value;
}

const size_t clml_group_size = 64;

size_t clml_work_items(const clml_tensor *tensor) {
    size_t groups = (clml_tensor_elements(tensor) + clml_group_size - 1) / clml_group_size;
    return groups * clml_group_size;
}

/* FNV-1a. */
static void add_digest(clml_op *op, const void *data, size_t bytes) {
    const unsigned char *each = data;
    for (size_t i = 0; i < bytes; i++) {
        op->digest = (op->digest ^ each[i]) * 0x100000001B3u;
    }
}

/* Sets the scalars of a launch's kernel, and adds all that tells it from others to the digest. */
static cl_int set_scalars(clml_build *b, const char *name, const char *options) {
    clml_kernel_launch *launch = &b->launch;
    add_digest(b->op, name, strlen(name));
    add_digest(b->op, options, strlen(options));
    add_digest(b->op, &launch->work_items, sizeof launch->work_items);
    for (cl_uint i = 0; i < launch->tensor_count; i++) {
        if (launch->tensors[i] >= 0) {
            const clml_tensor *tensor = b->op->tensors[launch->tensors[i]];
            const int shape[] = {(int)i,    (int)tensor->layout, tensor->n,
                                 tensor->c, tensor->h,           tensor->w};
            add_digest(b->op, shape, sizeof shape);
        }
    }
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < b->scalar_count && error == CL_SUCCESS; i++) {
        const clml_scalar *scalar = &b->scalars[i];
        add_digest(b->op, &scalar->value, scalar->bytes);
        error = clSetKernelArg(launch->kernel, 2 * launch->tensor_count + i, scalar->bytes,
                               &scalar->value);
    }
    return error;
}

void clml_launch(clml_build *b, const char *name, const char *source, const clml_tensor *result) {
    char options[CLML_OPTION_BYTES];
    clml_type_options(options, b->type);
    clml_op *op = b->op;
    clml_kernel_launch *launches =
        realloc(op->launches, (op->launch_count + 1) * sizeof *launches);
    if (!launches) {
        fail(b, CL_OUT_OF_HOST_MEMORY, "out of memory");
        return;
    }
    op->launches = launches;
    b->launch.kernel = clml_kernel(b->function, b->context, source, name, options);
    if (!b->launch.kernel) {
        b->error = CL_BUILD_PROGRAM_FAILURE;
        return;
    }
    b->launch.work_items = clml_work_items(result);
    cl_int error = set_scalars(b, name, options);
    op->launches[op->launch_count++] = b->launch; /* which will release the kernel */
    if (error != CL_SUCCESS) {
        fail(b, error, "clSetKernelArg refuses a scalar: its type is another in the kernel");
    }
    memset(&b->launch, 0, sizeof b->launch);
    b->scalar_count = 0;
}
