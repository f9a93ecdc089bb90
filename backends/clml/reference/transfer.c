/* Data of tensors: from the host, to it, and from one layout into another. */
#include "reference.h"

#include <stdio.h>

static const char source[] = CLML_SOURCE(
kernel void transfer(TENSOR(x), RESULT(y)) {
    ELEMENT(y);
    WRITE(y, n, c, h, w, READ(x, n, c, h, w));
}
);

/* What the host has of a tensor: the same elements, densely, in a layout of its own. */
static clml_tensor host_tensor(const clml_tensor *tensor, cl_ml_tensor_layout_qcom layout) {
    clml_tensor host = *tensor;
    host.layout = layout;
    return host;
}

/* Copies the elements on the queue. */
static cl_int transfer(const char *function, cl_command_queue queue, const clml_tensor *from,
                       cl_mem from_memory, const clml_tensor *to, cl_mem to_memory,
                       cl_uint wait_count, const cl_event *waits, cl_event *event) {
    char options[CLML_OPTION_BYTES];
    clml_type_options(options, to->type);
    cl_kernel kernel = clml_kernel(function, to->context, source, "transfer", options);
    if (!kernel) {
        return CL_BUILD_PROGRAM_FAILURE;
    }
    const size_t work_items = clml_work_items(to);
    cl_int error = clml_set_tensor(kernel, 0, from, from_memory);
    error = error ? error : clml_set_tensor(kernel, 1, to, to_memory);
    error = error ? error
                  : clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &work_items, &clml_group_size,
                                           wait_count, waits, event);
    clReleaseKernel(kernel);
    return error ? clml_refuse(function, error, "the device refuses the copy") : CL_SUCCESS;
}

/* What all three have in common. Finds the tensor, whose memory holds it. */
static cl_int check(const char *function, const char *role, cl_command_queue queue,
                    cl_ml_tensor_qcom handle, cl_mem memory, cl_uint wait_count,
                    const cl_event *waits, clml_tensor **tensor) {
    *tensor = clml_find(function, CLML_TENSOR, handle);
    if (!*tensor) {
        return CL_INVALID_VALUE;
    }
    if ((*tensor)->is_unused) {
        return clml_refuse(function, CL_INVALID_VALUE, "%s is unused: it has no data", role);
    }
    cl_int error = clml_check_queue(function, (*tensor)->context, queue, wait_count, waits);
    error = error ? error : clml_refuse_recordable(function, queue);
    return error ? error : clml_check_memory(function, role, *tensor, memory);
}

static cl_int check_host(const char *function, const void *host, cl_ml_tensor_layout_qcom layout) {
    if (!host) {
        return clml_refuse(function, CL_INVALID_HOST_PTR, "the host's data are NULL");
    }
    if (layout != CL_TENSOR_LAYOUT_NCHW_QCOM && layout != CL_TENSOR_LAYOUT_NHWC_QCOM) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "the layout of the host's data must be NCHW or NHWC");
    }
    return CL_SUCCESS;
}

/* The host's data are copied before this returns. */
static cl_int write(cl_command_queue queue, const void *host, cl_ml_tensor_layout_qcom layout,
                    cl_ml_tensor_qcom handle, cl_mem memory, cl_uint wait_count,
                    const cl_event *waits, cl_event *event) {
    const char *function = "clEnqueueWriteMLTensorDataQCOM";
    clml_tensor *tensor;
    cl_int error = check(function, "the tensor", queue, handle, memory, wait_count, waits, &tensor);
    error = error ? error : check_host(function, host, layout);
    if (error != CL_SUCCESS) {
        return error;
    }
    clml_tensor from = host_tensor(tensor, layout);
    cl_mem staging = clCreateBuffer(clml_context_of(tensor->context),
                                    CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                    clml_tensor_bytes(&from), (void *)host, &error);
    if (!staging) {
        return clml_refuse(function, error, "the device has no memory for the host's data");
    }
    error = transfer(function, queue, &from, staging, tensor, memory, wait_count, waits, event);
    clReleaseMemObject(staging);
    if (error == CL_SUCCESS) {
        tensor->is_written = 1;
        clml_trace(function, "%s from %s", clml_describe(tensor), clml_layout_name(layout));
    }
    return error;
}

static cl_int check_written(const char *function, const clml_tensor *tensor) {
    if (tensor->layout == CL_TENSOR_LAYOUT_OPTIMAL_QCOM && !tensor->is_written) {
        return clml_refuse(function, CL_INVALID_OPERATION,
                           "the tensor %s has no data: nothing has written it",
                           clml_describe(tensor));
    }
    return CL_SUCCESS;
}

static cl_int read(cl_command_queue queue, cl_ml_tensor_qcom handle, cl_mem memory, void *host,
                   cl_ml_tensor_layout_qcom layout, cl_uint wait_count, const cl_event *waits,
                   cl_event *event) {
    const char *function = "clEnqueueReadMLTensorDataQCOM";
    clml_tensor *tensor;
    cl_int error = check(function, "the tensor", queue, handle, memory, wait_count, waits, &tensor);
    error = error ? error : check_host(function, host, layout);
    error = error ? error : check_written(function, tensor);
    if (error != CL_SUCCESS) {
        return error;
    }
    clml_tensor to = host_tensor(tensor, layout);
    size_t bytes = clml_tensor_bytes(&to);
    cl_mem staging = clCreateBuffer(clml_context_of(tensor->context), CL_MEM_READ_WRITE, bytes,
                                    NULL, &error);
    if (!staging) {
        return clml_refuse(function, error, "the device has no memory for the host's data");
    }
    error = transfer(function, queue, tensor, memory, &to, staging, wait_count, waits, NULL);
    if (error == CL_SUCCESS) {
        error = clEnqueueReadBuffer(queue, staging, CL_FALSE, 0, bytes, host, 0, NULL, event);
        if (error != CL_SUCCESS) {
            clml_refuse(function, error, "clEnqueueReadBuffer failed");
        }
    }
    clReleaseMemObject(staging);
    if (error == CL_SUCCESS) {
        clml_trace(function, "%s to %s", clml_describe(tensor), clml_layout_name(layout));
    }
    return error;
}

static cl_int copy(cl_command_queue queue, cl_ml_tensor_qcom source_handle, cl_mem source_memory,
                   cl_ml_tensor_qcom target_handle, cl_mem target_memory, cl_uint wait_count,
                   const cl_event *waits, cl_event *event) {
    const char *function = "clEnqueueCopyMLTensorDataQCOM";
    clml_tensor *from, *to;
    cl_int error = check(function, "the source", queue, source_handle, source_memory, wait_count,
                         waits, &from);
    error = error ? error
                  : check(function, "the target", queue, target_handle, target_memory, wait_count,
                          waits, &to);
    error = error ? error : check_written(function, from);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (from->type != to->type || from->n != to->n || from->c != to->c || from->h != to->h ||
        from->w != to->w) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "the source is %s and the target %s: types and sizes must agree",
                           clml_describe(from), clml_describe(to));
    }
    if (clml_overlap(from, source_memory, to, target_memory)) {
        return clml_refuse(function, CL_MEM_COPY_OVERLAP,
                           "the source and the target have memory in common");
    }
    error = transfer(function, queue, from, source_memory, to, target_memory, wait_count, waits,
                     event);
    if (error == CL_SUCCESS) {
        to->is_written = 1;
        clml_trace(function, "%s to %s", clml_describe(from), clml_describe(to));
    }
    return error;
}

cl_int CL_API_CALL clml_enqueue_write(cl_command_queue queue, const void *host,
                                      cl_ml_tensor_layout_qcom layout, cl_ml_tensor_qcom tensor,
                                      cl_mem memory, cl_uint wait_count, const cl_event *waits,
                                      cl_event *event) {
    clml_lock();
    cl_int error = write(queue, host, layout, tensor, memory, wait_count, waits, event);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_enqueue_read(cl_command_queue queue, cl_ml_tensor_qcom tensor,
                                     cl_mem memory, void *host, cl_ml_tensor_layout_qcom layout,
                                     cl_uint wait_count, const cl_event *waits, cl_event *event) {
    clml_lock();
    cl_int error = read(queue, tensor, memory, host, layout, wait_count, waits, event);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_enqueue_copy(cl_command_queue queue, cl_ml_tensor_qcom from,
                                     cl_mem from_memory, cl_ml_tensor_qcom to, cl_mem to_memory,
                                     cl_uint wait_count, const cl_event *waits, cl_event *event) {
    clml_lock();
    cl_int error = copy(queue, from, from_memory, to, to_memory, wait_count, waits, event);
    clml_unlock();
    return error;
}
