/* A CLML that computes nothing, counts handles, checks its arguments, and fails when told to. */
#include "fake_internal.h"

#include <CL/cl_qcom_ml_ops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TENSORS = 16, SAVED = 24 };

typedef enum thing_kind { TENSOR, OP, SET, CACHE } thing_kind;

/* Anything of CLML that has a handle; it stays in memory when it is released. */
typedef struct thing {
    thing_kind kind;
    int is_live;
    struct thing *next; /* older */
    cl_ml_tensor_desc_qcom descriptor;
    int is_used; /* a tensor that an operation has */
    struct thing *tensors[MOST_TENSORS];
    cl_mem memories[MOST_TENSORS]; /* of a set */
    unsigned count;
    char name[16];
} thing;

static thing *things;

static thing *make(thing_kind kind, const char *name) {
    thing *made = __real_calloc(1, sizeof *made);
    made->kind = kind;
    made->is_live = 1;
    made->next = things;
    things = made;
    snprintf(made->name, sizeof made->name, "%s", name);
    return made;
}

static thing *live(const void *handle, thing_kind kind, const char *call) {
    thing *found = (thing *)handle;
    if (!found || found->kind != kind || !found->is_live) {
        fake_fault(call);
        return NULL;
    }
    return found;
}

static cl_int release(const void *handle, thing_kind kind, const char *call) {
    thing *found = live(handle, kind, call);
    if (found) {
        found->is_live = 0;
    }
    return CL_SUCCESS;
}

int fake_clml_end(void) {
    int left = 0;
    while (things) {
        thing *next = things->next;
        left += things->is_live;
        free(things);
        things = next;
    }
    return left;
}

static int is_unused(const thing *tensor) {
    return tensor->descriptor.num_dimensions == CL_TENSOR_UNUSED_QCOM;
}

static size_t dense_bytes(const thing *tensor) {
    const cl_ml_tensor_desc_qcom *d = &tensor->descriptor;
    return d->n * d->c * d->h * d->w * (d->image_channel_type == CL_FLOAT ? 4 : 2);
}

static size_t bytes_of(const thing *tensor) {
    const cl_ml_tensor_desc_qcom *d = &tensor->descriptor;
    size_t row = d->w * 4 * (d->image_channel_type == CL_FLOAT ? 4 : 2);
    if (d->layout != CL_TENSOR_LAYOUT_OPTIMAL_QCOM) {
        return dense_bytes(tensor) + (fake.clml_pads_rows ? fake.clml_padding : 0);
    }
    return d->n * ((d->c + 3) / 4) * d->h * ((row + 63) / 64 * 64 + fake.clml_padding);
}

static void check_memory(const thing *tensor, cl_mem memory, const char *call) {
    if (fake_memory_bytes(memory, call) < bytes_of(tensor)) {
        fake_fault("too little memory for a tensor");
    }
}

/* Tensors */

static cl_int CL_API_CALL create_tensor(cl_context context,
                                        const cl_ml_tensor_properties_qcom *properties,
                                        const cl_ml_tensor_desc_qcom *descriptor,
                                        cl_ml_tensor_usage_qcom usage, cl_ml_tensor_qcom *tensor) {
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    thing *made = make(TENSOR, "");
    made->descriptor = *descriptor;
    if (is_unused(made) != (usage == CL_TENSOR_USAGE_UNUSED_QCOM)) {
        fake_fault("a usage that contradicts the descriptor");
    }
    *tensor = (cl_ml_tensor_qcom)made;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_tensor(cl_ml_tensor_qcom tensor) {
    return release(tensor, TENSOR, "clReleaseMLTensorQCOM");
}

static cl_int CL_API_CALL memory_size(cl_context context, cl_ml_tensor_qcom handle,
                                      cl_uint *bytes) {
    const thing *tensor = live(handle, TENSOR, "clGetMLTensorMemorySizeQCOM");
    if (tensor->descriptor.layout == CL_TENSOR_LAYOUT_OPTIMAL_QCOM && !tensor->is_used) {
        fake_fault("the size of a tensor that no operation has yet");
    }
    *bytes = (cl_uint)bytes_of(tensor);
    return fake_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL write_tensor(cl_command_queue queue, const void *host,
                                       cl_ml_tensor_layout_qcom layout, cl_ml_tensor_qcom handle,
                                       cl_mem memory, cl_uint waits, const cl_event *wait_list,
                                       cl_event *event) {
    const thing *tensor = live(handle, TENSOR, "clEnqueueWriteMLTensorDataQCOM");
    unsigned char *copy = __real_calloc(dense_bytes(tensor), 1);
    if (layout != CL_TENSOR_LAYOUT_NCHW_QCOM) {
        fake_fault("constants in another layout than NCHW");
    }
    check_memory(tensor, memory, "clEnqueueWriteMLTensorDataQCOM");
    memcpy(copy, host, dense_bytes(tensor)); /* looks at every byte */
    free(copy);
    return fake_fails() ? CL_OUT_OF_RESOURCES : fake_command(queue, "write", "tensor", event);
}

static cl_int CL_API_CALL copy_tensor(cl_command_queue queue, cl_ml_tensor_qcom from,
                                      cl_mem from_memory, cl_ml_tensor_qcom to, cl_mem to_memory,
                                      cl_uint waits, const cl_event *wait_list, cl_event *event) {
    check_memory(live(from, TENSOR, "a copy of a tensor"), from_memory, "a copy of a tensor");
    check_memory(live(to, TENSOR, "a copy of a tensor"), to_memory, "a copy of a tensor");
    return fake_fails() ? CL_OUT_OF_RESOURCES : fake_command(queue, "copy", "tensor", event);
}

/* Operations */

static cl_int create_op(const char *name, const cl_ml_tensor_qcom *tensors, unsigned count,
                        cl_ml_tuningcache_qcom cache, cl_ml_op_qcom *op) {
    live(cache, CACHE, name);
    for (unsigned i = 0; i < count; i++) {
        live(tensors[i], TENSOR, name);
    }
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    thing *made = make(OP, name);
    for (unsigned i = 0; i < count; i++) {
        thing *tensor = (thing *)tensors[i];
        tensor->is_used = 1;
        if (!is_unused(tensor)) {
            made->tensors[made->count++] = tensor;
        }
    }
    *op = (cl_ml_op_qcom)made;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL create_convolution_activation(
    cl_context context, const cl_ml_op_properties_qcom *properties,
    const cl_ml_op_convolution_desc_qcom *descriptor,
    const cl_ml_op_activation_desc_qcom *activation, cl_ml_tensor_qcom input,
    cl_ml_tensor_qcom weight, cl_ml_tensor_qcom bias, cl_ml_tensor_qcom parameter,
    cl_ml_tensor_qcom output, cl_ml_op_qcom *op, cl_ml_tuningcache_qcom cache) {
    const cl_ml_tensor_qcom tensors[] = {input, weight, bias, output};
    if (properties || parameter || activation->function != CL_ACTIVATION_RELU6 ||
        descriptor->group_count != 1) {
        fake_fault("no descriptors of this convolution");
    }
    return create_op("conv", tensors, 4, cache, op);
}

static cl_int CL_API_CALL create_pooling(cl_context context,
                                         const cl_ml_op_properties_qcom *properties,
                                         const cl_ml_op_pooling_desc_qcom *descriptor,
                                         cl_ml_tensor_qcom input, cl_ml_tensor_qcom mask,
                                         cl_ml_tensor_qcom output, cl_ml_op_qcom *op,
                                         cl_ml_tuningcache_qcom cache) {
    const cl_ml_tensor_qcom tensors[] = {input, mask, output};
    if (properties || !is_unused(live(mask, TENSOR, "a mask")) || descriptor->window[1] != 2) {
        fake_fault("no descriptor of this pooling");
    }
    return create_op("pool", tensors, 3, cache, op);
}

static cl_int CL_API_CALL release_op(cl_ml_op_qcom op) {
    return release(op, OP, "clReleaseMLOpQCOM");
}

/* Each tensor of the operation is in the set, with memory that lives. */
static const thing *check_op(cl_ml_op_qcom handle, cl_ml_tensor_mem_desc_set_qcom descriptors,
                             const char *call) {
    const thing *op = live(handle, OP, call), *set = live(descriptors, SET, call);
    for (unsigned i = 0; i < op->count; i++) {
        int found = 0;
        for (unsigned j = 0; j < set->count; j++) {
            if (set->tensors[j] == op->tensors[i]) {
                check_memory(set->tensors[j], set->memories[j], call);
                found = 1;
            }
        }
        if (!found) {
            fake_fault("a tensor that is not in the set");
        }
    }
    return op;
}

static cl_int CL_API_CALL enqueue_op(cl_command_queue queue, cl_ml_op_qcom handle,
                                     cl_ml_tensor_mem_desc_set_qcom set, cl_uint waits,
                                     const cl_event *wait_list, cl_event *event) {
    const thing *op = check_op(handle, set, "clEnqueueMLOpQCOM");
    return fake_fails() ? CL_OUT_OF_RESOURCES : fake_command(queue, "op", op->name, event);
}

static cl_int CL_API_CALL enqueue_recording(
    cl_command_queue queue, cl_recording_qcom recording, size_t a, const void *pa, size_t b,
    const void *pb, size_t c, const void *pc, size_t d, const void *pd, size_t e, const void *pe,
    size_t f, const void *pf, size_t g, const void *pg, cl_uint waits, const cl_event *wait_list,
    cl_event *event) {
    if (a || b || c || d || e || f || g || pa || pb || pc || pd || pe || pf || pg || waits) {
        fake_fault("a replay that changes something");
    }
    return fake_fails() ? CL_OUT_OF_RESOURCES : fake_replay(queue, recording);
}

/* Sets */

static cl_int CL_API_CALL create_set(cl_ml_tensor_mem_desc_set_qcom *set) {
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    *set = (cl_ml_tensor_mem_desc_set_qcom)make(SET, "");
    return CL_SUCCESS;
}

static cl_int CL_API_CALL update_set(cl_ml_tensor_mem_desc_set_qcom handle, uint32_t count,
                                     const cl_ml_tensor_memory_desc_qcom *descriptors) {
    thing *set = live(handle, SET, "clUpdateMLTensorMemoryDescriptorSetQCOM");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if ((set->count && count != set->count) || count > MOST_TENSORS) {
        fake_fault("another number of tensors than before");
        return CL_INVALID_VALUE;
    }
    set->count = count;
    for (unsigned i = 0; i < count; i++) {
        set->tensors[i] = live(descriptors[i].tensor, TENSOR, "a set");
        set->memories[i] = descriptors[i].memory;
        if (is_unused(set->tensors[i])) {
            fake_fault("an unused tensor in a set");
        }
        check_memory(set->tensors[i], set->memories[i], "a set");
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_set(cl_ml_tensor_mem_desc_set_qcom set) {
    return release(set, SET, "clReleaseMLTensorMemoryDescriptorSetQCOM");
}

/* Tuning */

static cl_int CL_API_CALL create_cache(cl_ml_tuningcache_qcom *cache) {
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    *cache = (cl_ml_tuningcache_qcom)make(CACHE, "");
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_cache(cl_ml_tuningcache_qcom cache) {
    return release(cache, CACHE, "clReleaseMLTuningCacheQCOM");
}

static cl_int CL_API_CALL tune_op(cl_command_queue queue, cl_ml_op_qcom handle,
                                  cl_ml_tensor_mem_desc_set_qcom set, cl_ml_tuningcache_qcom cache,
                                  cl_ulong *nanoseconds) {
    cl_command_queue_properties properties = 0;
    const thing *op = check_op(handle, set, "clTuneMLOpQCOM");
    live(cache, CACHE, "clTuneMLOpQCOM");
    if (clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) ==
            CL_SUCCESS &&
        !(properties & CL_QUEUE_PROFILING_ENABLE)) {
        fake_fault("tuning on a queue without profiling");
    }
    return fake_fails() ? CL_OUT_OF_RESOURCES : fake_command(queue, "tune", op->name, NULL);
}

static cl_int CL_API_CALL save_cache(cl_ml_tuningcache_qcom cache, size_t bytes,
                                     unsigned char *data, size_t *needed) {
    live(cache, CACHE, "clSaveMLTuningCacheQCOM");
    if (needed) {
        *needed = SAVED;
    }
    if (data) {
        memset(data, 'T', bytes);
    }
    return fake_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL load_cache(cl_ml_tuningcache_qcom cache, size_t bytes,
                                     unsigned char *data) {
    live(cache, CACHE, "clLoadMLTuningCacheQCOM");
    if (bytes != SAVED || data[0] != 'T' || data[SAVED - 1] != 'T') {
        fake_fault("another tuning than was saved");
    }
    data[0] = 0; /* the library may write to it */
    return fake_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

/* The interface */

static CLMLInterfaceV5QCOM table = {
    .clCreateMLOpFusedConvolutionActivationForwardQCOM = create_convolution_activation,
    .clCreateMLOpPoolingForwardQCOM = create_pooling,
    .clReleaseMLOpQCOM = release_op,
    .clReleaseMLTensorQCOM = release_tensor,
    .clGetMLTensorMemorySizeQCOM = memory_size,
    .clEnqueueMLOpQCOM = enqueue_op,
    .clEnqueueWriteMLTensorDataQCOM = write_tensor,
    .clEnqueueCopyMLTensorDataQCOM = copy_tensor,
    .clCreateMLTensorMemoryDescriptorSetQCOM = create_set,
    .clUpdateMLTensorMemoryDescriptorSetQCOM = update_set,
    .clReleaseMLTensorMemoryDescriptorSetQCOM = release_set,
    .clCreateMLTuningCacheQCOM = create_cache,
    .clReleaseMLTuningCacheQCOM = release_cache,
    .clTuneMLOpQCOM = tune_op,
    .clSaveMLTuningCacheQCOM = save_cache,
    .clLoadMLTuningCacheQCOM = load_cache,
    .clEnqueueRecordingMLOpQCOM = enqueue_recording,
    .clCreateMLTensorWithUsageQCOM = create_tensor,
};

static cl_int CL_API_CALL query_versions(cl_int *majors, cl_int *minors, cl_uint count,
                                         cl_uint *count_ret) {
    if (fake_fails()) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; majors && i < count; i++) {
        majors[i] = 4 + (cl_int)i;
        minors[i] = 0;
    }
    if (count_ret) {
        *count_ret = 2;
    }
    return CL_SUCCESS;
}

/* It has version 5 alone, whatever it lists. */
static cl_int CL_API_CALL get_interface(void *result, cl_int major, cl_int minor) {
    CLMLInterfaceV5QCOM *found = fake_fails() || major != 5 || minor ? NULL : &table;
    memcpy(result, &found, sizeof found);
    return found ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL header_version(void) {
    return CLML_REFERENCE_HEADER;
}

static const char *CL_API_CALL message(void) {
    return "The fake says no.";
}

void (*fake_clml_function(const char *name))(void) {
    typedef void (*any_function)(void);
    static const struct {
        const char *name;
        any_function function;
    } rows[] = {
        {"clQueryMLInterfaceVersionsQCOM", (any_function)query_versions},
        {"clGetMLInterfaceQCOM", (any_function)get_interface},
        {"clmlReferenceHeaderVersion", (any_function)header_version},
        {"clmlReferenceMessage", (any_function)message},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].function;
        }
    }
    return NULL;
}
