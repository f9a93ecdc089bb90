/* Sets of tensors' memories, and what memories, queues and waiting lists have to be. */
#include "reference.h"

#include <stdlib.h>

static void clear(clml_set *set) {
    for (cl_uint i = 0; i < set->count; i++) {
        clml_drop(set->bindings[i].tensor);
        clReleaseMemObject(set->bindings[i].memory);
    }
    free(set->bindings);
    set->bindings = NULL;
    set->count = 0;
}

static void destroy(clml_object *object) {
    clear((clml_set *)object);
    free(object);
}

cl_mem clml_memory_of(const clml_set *set, const clml_tensor *tensor) {
    for (cl_uint i = 0; i < set->count; i++) {
        if (set->bindings[i].tensor == tensor) {
            return set->bindings[i].memory;
        }
    }
    return NULL;
}

cl_int clml_check_memory(const char *function, const char *role, const clml_tensor *tensor,
                         cl_mem memory) {
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    size_t bytes = 0;
    if (!memory) {
        return clml_refuse(function, CL_INVALID_MEM_OBJECT, "the memory of %s is NULL", role);
    }
    if (clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL) != CL_SUCCESS ||
        clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) != CL_SUCCESS) {
        return clml_refuse(function, CL_INVALID_MEM_OBJECT, "the memory of %s is none", role);
    }
    if (type != CL_MEM_OBJECT_BUFFER) {
        return clml_refuse(function, CL_INVALID_MEM_OBJECT, "the memory of %s is no buffer", role);
    }
    if (context != clml_context_of(tensor->context)) {
        return clml_refuse(function, CL_INVALID_CONTEXT,
                           "the memory of %s is of another context", role);
    }
    if (bytes < clml_tensor_bytes(tensor)) {
        return clml_refuse(function, CL_INVALID_BUFFER_SIZE,
                           "the memory of %s has %zu bytes, but %s takes %zu", role, bytes,
                           clml_describe(tensor), clml_tensor_bytes(tensor));
    }
    return CL_SUCCESS;
}

/* The buffer that a buffer is, or is a part of, and where. */
static cl_mem whole_of(cl_mem memory, size_t *offset) {
    cl_mem whole = NULL;
    *offset = 0;
    clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    if (whole) {
        clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof *offset, offset, NULL);
    }
    return whole ? whole : memory;
}

int clml_overlap(const clml_tensor *a, cl_mem a_memory, const clml_tensor *b, cl_mem b_memory) {
    size_t a_offset, b_offset;
    return whole_of(a_memory, &a_offset) == whole_of(b_memory, &b_offset) &&
           a_offset < b_offset + clml_tensor_bytes(b) && b_offset < a_offset + clml_tensor_bytes(a);
}

cl_int clml_check_queue(const char *function, const clml_context *context, cl_command_queue queue,
                        cl_uint wait_count, const cl_event *waits) {
    cl_context queues = NULL;
    cl_command_queue_properties properties = 0;
    if (!queue ||
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queues, &queues, NULL) !=
            CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) !=
            CL_SUCCESS) {
        return clml_refuse(function, CL_INVALID_COMMAND_QUEUE, "the queue is none");
    }
    if (queues != clml_context_of(context)) {
        return clml_refuse(function, CL_INVALID_CONTEXT,
                           "the queue is of another context than the tensors");
    }
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
        return clml_refuse(function, CL_INVALID_QUEUE_PROPERTIES,
                           "the queue must execute in order");
    }
    if (!wait_count != !waits) {
        return clml_refuse(function, CL_INVALID_EVENT_WAIT_LIST,
                           "there are %u events to wait for, but %s list of them",
                           (unsigned)wait_count, waits ? "a" : "no");
    }
    for (cl_uint i = 0; i < wait_count; i++) {
        if (!waits[i]) {
            return clml_refuse(function, CL_INVALID_EVENT_WAIT_LIST,
                               "event %u to wait for is NULL", (unsigned)i);
        }
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_create_set(cl_ml_tensor_mem_desc_set_qcom *out) {
    const char *function = "clCreateMLTensorMemoryDescriptorSetQCOM";
    if (!out) {
        return clml_refuse(function, CL_INVALID_VALUE, "the place for the set is NULL");
    }
    clml_lock();
    cl_int error = CL_SUCCESS;
    clml_set *set = clml_new(CLML_SET, sizeof *set, destroy);
    *out = set ? clml_publish(set) : NULL;
    if (!*out) {
        error = clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
        clml_drop(set);
    }
    clml_unlock();
    return error;
}

/* Checks an entry and appends it. */
static cl_int add(const char *function, clml_set *set, cl_uint i,
                  const cl_ml_tensor_memory_desc_qcom *desc) {
    clml_tensor *tensor = clml_find(function, CLML_TENSOR, desc->tensor);
    if (!tensor) {
        return CL_INVALID_VALUE;
    }
    if (tensor->is_unused) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "entry %u is an unused tensor, which has no memory", (unsigned)i);
    }
    if (clml_memory_of(set, tensor)) {
        return clml_refuse(function, CL_INVALID_VALUE, "entry %u, %s, is there twice", (unsigned)i,
                           clml_describe(tensor));
    }
    cl_int error = clml_check_memory(function, "an entry", tensor, desc->memory);
    if (error != CL_SUCCESS) {
        return error;
    }
    clml_retain(tensor);
    clRetainMemObject(desc->memory);
    set->bindings[set->count].tensor = tensor;
    set->bindings[set->count++].memory = desc->memory;
    return CL_SUCCESS;
}

/* The entries take the place of those before; after a failure, those before are still there. */
static cl_int update(cl_ml_tensor_mem_desc_set_qcom handle, uint32_t count,
                     const cl_ml_tensor_memory_desc_qcom *descs) {
    const char *function = "clUpdateMLTensorMemoryDescriptorSetQCOM";
    clml_set *set = clml_find(function, CLML_SET, handle);
    if (!set) {
        return CL_INVALID_VALUE;
    }
    if (!count || !descs) {
        return clml_refuse(function, CL_INVALID_VALUE, "there are no entries");
    }
    clml_set entries = {.count = 0, .bindings = calloc(count, sizeof *entries.bindings)};
    if (!entries.bindings) {
        return clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
    }
    for (cl_uint i = 0; i < count; i++) {
        cl_int error = add(function, &entries, i, &descs[i]);
        if (error != CL_SUCCESS) {
            clear(&entries);
            return error;
        }
    }
    clear(set);
    set->count = entries.count;
    set->bindings = entries.bindings;
    clml_trace(function, "%u tensors", (unsigned)count);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_update_set(cl_ml_tensor_mem_desc_set_qcom set, uint32_t count,
                                   const cl_ml_tensor_memory_desc_qcom *descs) {
    clml_lock();
    cl_int error = update(set, count, descs);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_release_set(cl_ml_tensor_mem_desc_set_qcom set) {
    clml_lock();
    cl_int error = clml_release("clReleaseMLTensorMemoryDescriptorSetQCOM", CLML_SET, set);
    clml_unlock();
    return error;
}
