/* Tensors: creation and sizes. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCK 4      /* channels that lie beside each other in an OPTIMAL tensor */
#define ROW_BYTES 64 /* rows are multiples of this */

size_t clml_element_bytes(cl_channel_type type) { return type == CL_HALF_FLOAT ? 2 : 4; }

size_t clml_tensor_elements(const clml_tensor *tensor) {
    return (size_t)tensor->n * (size_t)tensor->c * (size_t)tensor->h * (size_t)tensor->w;
}

size_t clml_tensor_bytes(const clml_tensor *tensor) {
    size_t element = clml_element_bytes(tensor->type);
    if (tensor->layout != CL_TENSOR_LAYOUT_OPTIMAL_QCOM) {
        return clml_tensor_elements(tensor) * element;
    }
    size_t blocks = (size_t)tensor->n * (((size_t)tensor->c + BLOCK - 1) / BLOCK);
    size_t row = ((size_t)tensor->w * BLOCK * element + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    return blocks * (size_t)tensor->h * row + tensor->padding;
}

const char *clml_layout_name(cl_ml_tensor_layout_qcom layout) {
    switch (layout) {
    case CL_TENSOR_LAYOUT_OPTIMAL_QCOM:
        return "OPTIMAL";
    case CL_TENSOR_LAYOUT_NCHW_QCOM:
        return "NCHW";
    case CL_TENSOR_LAYOUT_NHWC_QCOM:
        return "NHWC";
    }
    return NULL;
}

const char *clml_describe(const clml_tensor *tensor) {
    static char texts[8][64];
    static unsigned turn;
    char *text = texts[turn++ % 8];
    snprintf(text, sizeof texts[0], "%dx%dx%dx%d %s %s", tensor->n, tensor->c, tensor->h, tensor->w,
             tensor->type == CL_HALF_FLOAT ? "half" : "float", clml_layout_name(tensor->layout));
    return text;
}

static void destroy(clml_object *object) {
    clml_tensor *tensor = (clml_tensor *)object;
    clml_drop_context(tensor->context);
    free(tensor);
}

/* Bytes that every OPTIMAL tensor has beyond those of its elements. */
static size_t padding(void) {
    const char *text = getenv("CLML_REFERENCE_PADDING");
    return text ? (size_t)strtoul(text, NULL, 10) : 0;
}

static cl_int check_sizes(const char *function, const cl_ml_tensor_desc_qcom *desc) {
    const size_t sizes[] = {desc->n, desc->c, desc->h, desc->w};
    for (int i = 0; i < 4; i++) {
        if (sizes[i] < 1 || sizes[i] > CLML_MAX_SIZE) {
            return clml_refuse(function, CL_INVALID_VALUE,
                               "the size %c is %zu, and must be between 1 and %d", "nchw"[i],
                               sizes[i], CLML_MAX_SIZE);
        }
    }
    if (desc->d || desc->strides[0] || desc->strides[1] || desc->strides[2] || desc->strides[3]) {
        return clml_refuse(function, CL_INVALID_VALUE, "the depth and strides must be 0");
    }
    return CL_SUCCESS;
}

/* An unused tensor is a zeroed descriptor but for its number of dimensions. */
static cl_int check_unused(const char *function, const cl_ml_tensor_desc_qcom *desc,
                           int usage) {
    if (desc->n || desc->c || desc->h || desc->w || desc->d) {
        return clml_refuse(function, CL_INVALID_VALUE, "an unused tensor must have no sizes");
    }
    if (usage != CL_TENSOR_USAGE_UNUSED_QCOM) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "an unused tensor must have CL_TENSOR_USAGE_UNUSED_QCOM");
    }
    return CL_SUCCESS;
}

static cl_int check_desc(const char *function, const cl_ml_tensor_desc_qcom *desc, int usage) {
    if (desc->num_dimensions == CL_TENSOR_UNUSED_QCOM) {
        return check_unused(function, desc, usage);
    }
    if (desc->num_dimensions != CL_TENSOR_DIMENSIONS_4D_QCOM) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "num_dimensions must be CL_TENSOR_DIMENSIONS_4D_QCOM or "
                           "CL_TENSOR_UNUSED_QCOM");
    }
    if (usage != CL_TENSOR_USAGE_PARAMETER_QCOM && usage != CL_TENSOR_USAGE_CNN_QCOM &&
        usage != CL_TENSOR_USAGE_TNN_QCOM) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "the usage of a tensor with data must be PARAMETER, CNN or TNN");
    }
    if (desc->image_channel_type != CL_FLOAT && desc->image_channel_type != CL_HALF_FLOAT) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "the channel type must be CL_FLOAT or CL_HALF_FLOAT");
    }
    if (!clml_layout_name(desc->layout)) {
        return clml_refuse(function, CL_INVALID_VALUE, "there is no layout %d",
                           (int)desc->layout);
    }
    return check_sizes(function, desc);
}

static void fill(clml_tensor *tensor, const cl_ml_tensor_desc_qcom *desc, int usage) {
    tensor->usage = usage;
    tensor->is_unused = desc->num_dimensions == CL_TENSOR_UNUSED_QCOM;
    if (!tensor->is_unused) {
        tensor->type = desc->image_channel_type;
        tensor->layout = desc->layout;
        tensor->n = (int)desc->n;
        tensor->c = (int)desc->c;
        tensor->h = (int)desc->h;
        tensor->w = (int)desc->w;
        tensor->padding = padding();
    }
}

static cl_int create(const char *function, cl_context context,
                     const cl_ml_tensor_properties_qcom *properties,
                     const cl_ml_tensor_desc_qcom *desc, int has_usage, int usage,
                     cl_ml_tensor_qcom *out) {
    if (out) {
        *out = NULL;
    }
    if (!out || !desc) {
        return clml_refuse(function, CL_INVALID_VALUE, "the %s is NULL",
                           out ? "descriptor" : "place for the tensor");
    }
    if (properties && *properties) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "this library knows no property of tensors: neither dynamic sizes nor "
                           "quantization");
    }
    if (!has_usage && desc->num_dimensions == CL_TENSOR_UNUSED_QCOM) {
        usage = CL_TENSOR_USAGE_UNUSED_QCOM;
    }
    cl_int error = check_desc(function, desc, usage);
    if (error != CL_SUCCESS) {
        return error;
    }
    clml_tensor *tensor = clml_new(CLML_TENSOR, sizeof *tensor, destroy);
    if (!tensor) {
        return clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
    }
    fill(tensor, desc, usage);
    tensor->has_usage = has_usage;
    if (!tensor->is_unused && clml_tensor_bytes(tensor) > CL_INT_MAX) {
        error = clml_refuse(function, CL_INVALID_BUFFER_SIZE, "the tensor %s has over 2 GiB",
                            clml_describe(tensor));
    } else if ((tensor->context = clml_find_context(function, context)) == NULL) {
        error = CL_INVALID_CONTEXT;
    } else if ((*out = clml_publish(tensor)) == NULL) {
        error = clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
    }
    if (error != CL_SUCCESS) {
        clml_drop(tensor);
        return error;
    }
    clml_trace(function, "%s", tensor->is_unused ? "an unused one" : clml_describe(tensor));
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_create_tensor(cl_context context,
                                      const cl_ml_tensor_properties_qcom *properties,
                                      const cl_ml_tensor_desc_qcom *desc,
                                      cl_ml_tensor_qcom *tensor) {
    clml_lock();
    cl_int error = create("clCreateMLTensorQCOM", context, properties, desc, 0,
                          CL_TENSOR_USAGE_CNN_QCOM, tensor);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_create_tensor_with_usage(cl_context context,
                                                 const cl_ml_tensor_properties_qcom *properties,
                                                 const cl_ml_tensor_desc_qcom *desc,
                                                 cl_ml_tensor_usage_qcom usage,
                                                 cl_ml_tensor_qcom *tensor) {
    clml_lock();
    cl_int error = create("clCreateMLTensorWithUsageQCOM", context, properties, desc, 1,
                          (int)usage, tensor);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_release_tensor(cl_ml_tensor_qcom tensor) {
    clml_lock();
    cl_int error = clml_release("clReleaseMLTensorQCOM", CLML_TENSOR, tensor);
    clml_unlock();
    return error;
}

static cl_int get_size(cl_context context, cl_ml_tensor_qcom handle, cl_uint *bytes) {
    const char *function = "clGetMLTensorMemorySizeQCOM";
    const clml_tensor *tensor = clml_find(function, CLML_TENSOR, handle);
    if (!tensor) {
        return CL_INVALID_VALUE;
    }
    if (!bytes) {
        return clml_refuse(function, CL_INVALID_VALUE, "the place for the size is NULL");
    }
    if (tensor->is_unused) {
        return clml_refuse(function, CL_INVALID_VALUE, "an unused tensor has no size");
    }
    if (clml_context_of(tensor->context) != context) {
        return clml_refuse(function, CL_INVALID_CONTEXT, "the tensor is of another context");
    }
    if (tensor->layout == CL_TENSOR_LAYOUT_OPTIMAL_QCOM && !tensor->is_referenced) {
        return clml_refuse(function, CL_INVALID_OPERATION,
                           "the size of the tensor %s is not known before an operation that uses "
                           "it was created",
                           clml_describe(tensor));
    }
    *bytes = (cl_uint)clml_tensor_bytes(tensor);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_get_memory_size(cl_context context, cl_ml_tensor_qcom tensor,
                                        cl_uint *bytes) {
    clml_lock();
    cl_int error = get_size(context, tensor, bytes);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_set_dimensions(const cl_ml_tensor_desc_qcom *desc,
                                       cl_ml_tensor_qcom *tensor) {
    (void)desc;
    (void)tensor;
    return clml_refuse("clSetMLTensorDimensionsQCOM", CL_INVALID_OPERATION,
                       "this library has no dynamic sizes");
}
