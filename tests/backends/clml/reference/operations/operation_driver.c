/* Makes one operation from a description, runs it once and reads its result: for Python. */
#include "operation_driver.h"

#include <stdlib.h>
#include <string.h>

#define VALUE(name) {#name, (cl_int)name}

static const struct {
    const char *name;
    cl_int value;
} VALUES[] = {
    VALUE(CL_FLOAT),
    VALUE(CL_HALF_FLOAT),
    VALUE(CL_TENSOR_LAYOUT_OPTIMAL_QCOM),
    VALUE(CL_TENSOR_LAYOUT_NCHW_QCOM),
    VALUE(CL_TENSOR_LAYOUT_NHWC_QCOM),
    VALUE(CL_TENSOR_USAGE_CNN_QCOM),
    VALUE(CL_TENSOR_USAGE_TNN_QCOM),
    VALUE(CL_TENSOR_USAGE_PARAMETER_QCOM),
    VALUE(CL_ARITHMETIC_MODE_FP32_QCOM),
    VALUE(CL_ARITHMETIC_MODE_FP16_QCOM),
    VALUE(CL_ARITHMETIC_MODE_FP16_ACC32_QCOM),
    VALUE(CL_CONVOLUTION_MODE_CONVOLUTION_QCOM),
    VALUE(CL_CONVOLUTION_MODE_DEPTHWISE_QCOM),
    VALUE(CL_CONVOLUTION_MODE_TRANSPOSE_QCOM),
    VALUE(CL_ACTIVATION_RELU),
    VALUE(CL_ACTIVATION_RELU6),
    VALUE(CL_ACTIVATION_SIGMOID),
    VALUE(CL_ACTIVATION_TANH),
    VALUE(CL_POOLING_MODE_MAX_QCOM),
    VALUE(CL_POOLING_MODE_AVERAGE_EXCLUDE_PADDING_QCOM),
    VALUE(CL_SOFTMAX_MODE_INSTANCE_QCOM),
    VALUE(CL_SOFTMAX_MODE_SPATIAL_QCOM),
    VALUE(CL_PAD_MODE_CONSTANT_QCOM),
    VALUE(CL_PAD_MODE_SYMMETRIC_QCOM),
    VALUE(CL_PAD_MODE_REFLECT_QCOM),
    VALUE(CL_FC_WEIGHT_TRANSFORM_NONE_QCOM),
    VALUE(CL_FC_WEIGHT_TRANSFORM_TRANSPOSE_QCOM),
    VALUE(CL_GEMM_TRANSFORM_NONE_QCOM),
    VALUE(CL_GEMM_TRANSFORM_TRANSPOSE_QCOM),
    VALUE(CL_TENSOR_OP_ADD_QCOM),
    VALUE(CL_TENSOR_OP_SUB_QCOM),
    VALUE(CL_TENSOR_OP_MUL_QCOM),
    VALUE(CL_TENSOR_OP_DIV_QCOM),
    VALUE(CL_TENSOR_OP_MIN_QCOM),
    VALUE(CL_TENSOR_OP_MAX_QCOM),
    VALUE(CL_ML_BATCH_NORM_OP_EPSILON_QCOM),
};

/* The number of an enumerator; -1 where the header has no such name. */
cl_int value_of(const char *name) {
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        if (strcmp(VALUES[i].name, name) == 0) {
            return VALUES[i].value;
        }
    }
    return -1;
}

/* The reason of the last refusal. */
const char *last_message(void) {
    return clmlReferenceMessage();
}

cl_uint live_handles(void) {
    return clmlReferenceLiveHandles();
}

/* Opens a device of the platform with this name; NULL where there is none. */
session *open_session(const char *platform) {
    const cl_ml_tensor_desc_qcom scalar = {
        CL_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 1, 1, 1, 0, CL_TENSOR_DIMENSIONS_4D_QCOM, {0}};
    cl_platform_id platforms[16];
    cl_uint count = 0;
    clGetPlatformIDs(16, platforms, &count);
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        cl_device_id device = NULL;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, platform) != 0 ||
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
            continue;
        }
        session *made = calloc(1, sizeof *made);
        made->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
        made->queue = clCreateCommandQueue(made->context, device, 0, NULL);
        clGetMLInterfaceQCOM(&made->clml, 4, 0);
        made->clml->clCreateMLTensorWithUsageQCOM(made->context, NULL, &scalar,
                                                  CL_TENSOR_USAGE_CNN_QCOM, &made->kept);
        return made;
    }
    return NULL;
}

void close_session(session *closed) {
    closed->clml->clReleaseMLTensorQCOM(closed->kept);
    clReleaseCommandQueue(closed->queue);
    clReleaseContext(closed->context);
    free(closed);
}

static cl_int create_tensor(state *s, cl_uint number) {
    const tensor_row *row = &s->request->rows[number];
    cl_ml_tensor_desc_qcom desc = {row->type,
                                   (cl_ml_tensor_layout_qcom)row->layout,
                                   row->sizes[0],
                                   row->sizes[1],
                                   row->sizes[2],
                                   row->sizes[3],
                                   0,
                                   CL_TENSOR_DIMENSIONS_4D_QCOM,
                                   {0}};
    cl_ml_tensor_desc_qcom unused = {0};
    unused.num_dimensions = CL_TENSOR_UNUSED_QCOM;
    if (row->state == MISSING) {
        return CL_SUCCESS;
    }
    if (row->state == FIRST) {
        s->tensors[number] = s->tensors[0];
        return CL_SUCCESS;
    }
    if (row->state == UNUSED) {
        return CLML(s)->clCreateMLTensorWithUsageQCOM(
            s->session->context, NULL, &unused, CL_TENSOR_USAGE_UNUSED_QCOM, &s->tensors[number]);
    }
    return CLML(s)->clCreateMLTensorWithUsageQCOM(s->session->context, NULL, &desc,
                                                  (cl_ml_tensor_usage_qcom)row->usage,
                                                  &s->tensors[number]);
}

static cl_int bind_tensor(state *s, cl_uint number) {
    const tensor_row *row = &s->request->rows[number];
    cl_ml_tensor_memory_desc_qcom *memory = &s->memory[s->bound];
    cl_uint bytes = 0;
    cl_int error;
    if (row->state != REAL) {
        return CL_SUCCESS;
    }
    memory->tensor = s->tensors[number];
    error = CLML(s)->clGetMLTensorMemorySizeQCOM(s->session->context, memory->tensor, &bytes);
    if (error != CL_SUCCESS) {
        return error;
    }
    memory->memory = clCreateBuffer(s->session->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (error != CL_SUCCESS) {
        return error;
    }
    s->bound++;
    return row->data ? CLML(s)->clEnqueueWriteMLTensorDataQCOM(
                           s->session->queue, row->data, CL_TENSOR_LAYOUT_NCHW_QCOM,
                           memory->tensor, memory->memory, 0, NULL, NULL)
                     : CL_SUCCESS;
}

static cl_int enqueue(state *s) {
    cl_event before = NULL, after = NULL;
    cl_int error;
    if (!s->request->waits) {
        return CLML(s)->clEnqueueMLOpQCOM(s->session->queue, s->op, s->set, 0, NULL, NULL);
    }
    error = clEnqueueMarkerWithWaitList(s->session->queue, 0, NULL, &before);
    if (error == CL_SUCCESS) {
        error = CLML(s)->clEnqueueMLOpQCOM(s->session->queue, s->op, s->set, 1, &before, &after);
        clReleaseEvent(before);
    }
    if (error == CL_SUCCESS) {
        error = clWaitForEvents(1, &after);
        clReleaseEvent(after);
    }
    return error;
}

static cl_int read_results(state *s) {
    cl_uint bound = 0;
    for (cl_uint i = 0; i < s->request->count; i++) {
        const tensor_row *row = &s->request->rows[i];
        if (row->state == REAL && row->result) {
            cl_int error = CLML(s)->clEnqueueReadMLTensorDataQCOM(
                s->session->queue, s->tensors[i], s->memory[bound].memory, row->result,
                CL_TENSOR_LAYOUT_NCHW_QCOM, 0, NULL, NULL);
            if (error != CL_SUCCESS) {
                return error;
            }
        }
        bound += row->state == REAL;
    }
    return clFinish(s->session->queue);
}

static cl_int create(state *s) {
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < s->request->count && error == CL_SUCCESS; i++) {
        error = create_tensor(s, i);
    }
    return error == CL_SUCCESS ? create_operation(s) : error;
}

static cl_int execute(state *s) {
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < s->request->count && error == CL_SUCCESS; i++) {
        error = bind_tensor(s, i);
    }
    if (error == CL_SUCCESS) {
        error = CLML(s)->clCreateMLTensorMemoryDescriptorSetQCOM(&s->set);
    }
    if (error == CL_SUCCESS) {
        error = CLML(s)->clUpdateMLTensorMemoryDescriptorSetQCOM(s->set, s->bound, s->memory);
    }
    if (error == CL_SUCCESS) {
        error = enqueue(s);
    }
    return error == CL_SUCCESS ? read_results(s) : error;
}

static void release(state *s) {
    clFinish(s->session->queue);
    if (s->set) {
        CLML(s)->clReleaseMLTensorMemoryDescriptorSetQCOM(s->set);
    }
    if (s->op) {
        CLML(s)->clReleaseMLOpQCOM(s->op);
    }
    for (cl_uint i = 0; i < s->bound; i++) {
        clReleaseMemObject(s->memory[i].memory);
    }
    for (cl_uint i = 0; i < s->request->count; i++) {
        if (s->tensors[i] && s->request->rows[i].state != FIRST) {
            CLML(s)->clReleaseMLTensorQCOM(s->tensors[i]);
        }
    }
}

/* Makes the operation, and runs it where `runs` says so; the first error. */
cl_int run_operation(const session *on, const request *wanted, cl_int runs) {
    state *s = calloc(1, sizeof *s);
    cl_int error;
    s->session = on;
    s->request = wanted;
    error = create(s);
    if (error == CL_SUCCESS && runs) {
        error = execute(s);
    }
    release(s);
    free(s);
    return error;
}
