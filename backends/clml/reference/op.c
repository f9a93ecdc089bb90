/* Operations on queues. */
#include "reference.h"

cl_int clml_set_tensor(cl_kernel kernel, cl_uint index, const clml_tensor *tensor, cl_mem memory) {
    cl_int8 shape = {{0, 0, 0, 0, 0, 0, 0, 0}};
    if (tensor) {
        shape.s[0] = tensor->n;
        shape.s[1] = tensor->c;
        shape.s[2] = tensor->h;
        shape.s[3] = tensor->w;
        shape.s[4] = (cl_int)tensor->layout;
        shape.s[5] = 1;
    }
    cl_int error = clSetKernelArg(kernel, 2 * index, sizeof memory, &memory);
    return error ? error : clSetKernelArg(kernel, 2 * index + 1, sizeof shape, &shape);
}

/* Each tensor lives and has a memory that holds it. */
static cl_int find_memories(const char *function, const clml_op *op, const clml_set *set,
                            cl_mem *memories) {
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        const clml_tensor *tensor = op->tensors[i];
        if (tensor->object.released) {
            return clml_refuse(function, CL_INVALID_VALUE, "the tensor %s of %s was released",
                               op->roles[i], op->name);
        }
        memories[i] = clml_memory_of(set, tensor);
        if (!memories[i]) {
            return clml_refuse(function, CL_INVALID_VALUE,
                               "the set has no memory for the tensor %s (%s) of %s", op->roles[i],
                               clml_describe(tensor), op->name);
        }
        cl_int error = clml_check_memory(function, op->roles[i], tensor, memories[i]);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    return CL_SUCCESS;
}

/* No operation works in place. */
static cl_int check_overlaps(const char *function, const clml_op *op, const cl_mem *memories) {
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        for (cl_uint j = 0; op->is_output[i] && j < op->tensor_count; j++) {
            if (i != j && clml_overlap(op->tensors[i], memories[i], op->tensors[j], memories[j])) {
                return clml_refuse(function, CL_MEM_COPY_OVERLAP,
                                   "%s and %s of %s have memory in common", op->roles[j],
                                   op->roles[i], op->name);
            }
        }
    }
    return CL_SUCCESS;
}

cl_int clml_check_op(const char *function, cl_command_queue queue, const clml_op *op,
                     const clml_set *set, cl_uint wait_count, const cl_event *waits,
                     cl_mem *memories) {
    cl_int error = clml_check_queue(function, op->context, queue, wait_count, waits);
    error = error ? error : find_memories(function, op, set, memories);
    return error ? error : check_overlaps(function, op, memories);
}

/* Other kernels write NCHW and NHWC, too; only this library writes OPTIMAL. */
static cl_int check_written(const char *function, const clml_op *op) {
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        const clml_tensor *tensor = op->tensors[i];
        if (!op->is_output[i] && tensor->layout == CL_TENSOR_LAYOUT_OPTIMAL_QCOM &&
            !tensor->is_written) {
            return clml_refuse(function, CL_INVALID_OPERATION,
                               "%s (%s) of %s has no data: nothing has written it", op->roles[i],
                               clml_describe(tensor), op->name);
        }
    }
    return CL_SUCCESS;
}

cl_int clml_enqueue(const char *function, cl_command_queue queue, clml_op *op, const clml_set *set,
                    cl_uint wait_count, const cl_event *waits, cl_event *event) {
    cl_mem memories[CLML_MAX_TENSORS];
    cl_int error = clml_check_op(function, queue, op, set, wait_count, waits, memories);
    error = error ? error : check_written(function, op);
    if (error != CL_SUCCESS) {
        return error;
    }
    for (cl_uint i = 0; i < op->launch_count; i++) {
        const clml_kernel_launch *launch = &op->launches[i];
        for (cl_uint j = 0; j < launch->tensor_count && error == CL_SUCCESS; j++) {
            int index = launch->tensors[j];
            error = clml_set_tensor(launch->kernel, j, index < 0 ? NULL : op->tensors[index],
                                    index < 0 ? NULL : memories[index]);
        }
        if (error == CL_SUCCESS) {
            int is_first = i == 0, is_last = i + 1 == op->launch_count;
            error = clEnqueueNDRangeKernel(queue, launch->kernel, 1, NULL, &launch->work_items,
                                           &clml_group_size, is_first ? wait_count : 0, is_first ? waits : NULL,
                                           is_last ? event : NULL);
        }
        if (error != CL_SUCCESS) {
            return clml_refuse(function, error, "the device refuses %s", op->name);
        }
    }
    for (cl_uint i = 0; i < op->tensor_count; i++) {
        op->tensors[i]->is_written |= op->is_output[i];
    }
    clml_trace(function, "%s", op->name);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_enqueue_ml_op(cl_command_queue queue, cl_ml_op_qcom op_handle,
                                      cl_ml_tensor_mem_desc_set_qcom set_handle,
                                      cl_uint wait_count, const cl_event *waits, cl_event *event) {
    const char *function = "clEnqueueMLOpQCOM";
    clml_lock();
    clml_op *op = clml_find(function, CLML_OP, op_handle);
    clml_set *set = op ? clml_find(function, CLML_SET, set_handle) : NULL;
    cl_int error = CL_INVALID_VALUE;
    if (set && clml_is_recordable(queue)) {
        error = clml_record_op(function, queue, op, set, wait_count, event);
    } else if (set) {
        error = clml_enqueue(function, queue, op, set, wait_count, waits, event);
    }
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_release_op(cl_ml_op_qcom op) {
    clml_lock();
    cl_int error = clml_release("clReleaseMLOpQCOM", CLML_OP, op);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_update_op(cl_ml_op_qcom op,
                                  const cl_update_ml_op_properties_qcom *properties,
                                  cl_ml_tensor_mem_desc_set_qcom set, const void *reserved) {
    (void)op;
    (void)properties;
    (void)set;
    (void)reserved;
    return clml_refuse("clUpdateMLOpQCOM", CL_INVALID_OPERATION,
                       "this library has no dynamic sizes");
}
