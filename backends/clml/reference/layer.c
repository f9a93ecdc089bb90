/* The library as a layer of OpenCL: OPENCL_LAYERS=libclml_reference.so.
 *
 * Every device then has the extensions, the loader finds their functions, and queues can be made
 * recordable. Each of two loaders in one process may ask for the layer; what the functions here
 * pass on, they pass on to the first, since any loader takes any object.
 */
#include "reference.h"

#if defined(__has_include)
#if __has_include(<CL/cl_layer.h>)
#define HAS_LAYERS 1
#endif
#endif

#ifdef HAS_LAYERS
#include <CL/cl_layer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cl_icd_dispatch *next; /* what comes after this layer */

static const char *const extensions[] = {"cl_qcom_ml_ops", "cl_qcom_recordable_queues",
                                         "cl_qcom_onchip_global_memory"};
#define EXTENSION_COUNT (sizeof extensions / sizeof *extensions)

/* Answers */

/* Gives `value` as OpenCL's queries do. */
static cl_int answer(const void *value, size_t bytes, size_t room, void *place, size_t *needed) {
    if (place && room < bytes) {
        return CL_INVALID_VALUE;
    }
    if (place) {
        memcpy(place, value, bytes);
    }
    if (needed) {
        *needed = bytes;
    }
    return CL_SUCCESS;
}

/* What the device says, malloc'd with `more` bytes after it. */
static cl_int ask(cl_device_id device, cl_device_info what, size_t more, char **value,
                  size_t *bytes) {
    cl_int error = next->clGetDeviceInfo(device, what, 0, NULL, bytes);
    *value = error ? NULL : malloc(*bytes + more);
    if (!*value) {
        return error ? error : CL_OUT_OF_HOST_MEMORY;
    }
    error = next->clGetDeviceInfo(device, what, *bytes, *value, NULL);
    if (error != CL_SUCCESS) {
        free(*value);
    }
    return error;
}

static cl_int answer_extensions(cl_device_id device, size_t room, void *place, size_t *needed) {
    char *text;
    size_t bytes;
    cl_int error = ask(device, CL_DEVICE_EXTENSIONS, 128, &text, &bytes);
    if (error != CL_SUCCESS) {
        return error;
    }
    text[bytes] = '\0';
    for (size_t i = 0; i < EXTENSION_COUNT; i++) {
        if (!strstr(text, extensions[i])) {
            size_t used = strlen(text);
            int has_space = !used || text[used - 1] == ' ';
            sprintf(text + used, "%s%s", has_space ? "" : " ", extensions[i]);
        }
    }
    error = answer(text, strlen(text) + 1, room, place, needed);
    free(text);
    return error;
}

static cl_int answer_versions(cl_device_id device, size_t room, void *place, size_t *needed) {
    char *value;
    size_t bytes;
    cl_int error = ask(device, CL_DEVICE_EXTENSIONS_WITH_VERSION,
                       EXTENSION_COUNT * sizeof(cl_name_version), &value, &bytes);
    if (error != CL_SUCCESS) {
        return error;
    }
    for (size_t i = 0; i < EXTENSION_COUNT; i++) {
        cl_name_version added = {CL_MAKE_VERSION(1, 0, 0), ""};
        strcpy(added.name, extensions[i]);
        memcpy(value + bytes, &added, sizeof added);
        bytes += sizeof added;
    }
    error = answer(value, bytes, room, place, needed);
    free(value);
    return error;
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t room,
                                          void *place, size_t *needed) {
    const cl_uint recording_size = clml_recording_size();
    const size_t onchip_bytes = clml_onchip_bytes();
    switch (what) {
    case CL_DEVICE_EXTENSIONS:
        return answer_extensions(device, room, place, needed);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return answer_versions(device, room, place, needed);
    case CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE:
        return answer(&recording_size, sizeof recording_size, room, place, needed);
    case CL_DEVICE_ONCHIP_GLOBAL_MEM_SIZE_QCOM:
        return answer(&onchip_bytes, sizeof onchip_bytes, room, place, needed);
    default:
        return next->clGetDeviceInfo(device, what, room, place, needed);
    }
}

typedef void (*any_function)(void);

static const struct {
    const char *name;
    any_function function;
} functions[] = {
    {"clQueryMLInterfaceVersionsQCOM", (any_function)clQueryMLInterfaceVersionsQCOM},
    {"clGetMLInterfaceQCOM", (any_function)clGetMLInterfaceQCOM},
    {"clNewRecordingQCOM", (any_function)clNewRecordingQCOM},
    {"clEndRecordingQCOM", (any_function)clEndRecordingQCOM},
    {"clRetainRecordingQCOM", (any_function)clRetainRecordingQCOM},
    {"clReleaseRecordingQCOM", (any_function)clReleaseRecordingQCOM},
    {"clEnqueueRecordingQCOM", (any_function)clEnqueueRecordingQCOM},
    {"clmlReferenceHeaderVersion", (any_function)clmlReferenceHeaderVersion},
    {"clmlReferenceMessage", (any_function)clmlReferenceMessage},
    {"clmlReferenceLiveHandles", (any_function)clmlReferenceLiveHandles},
};

/* The address of a function of this library, or NULL. */
static void *find_function(const char *name) {
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
        if (!strcmp(name, functions[i].name)) {
            void *address;
            memcpy(&address, &functions[i].function, sizeof address);
            return address;
        }
    }
    return NULL;
}

static void *CL_API_CALL get_function(cl_platform_id platform, const char *name) {
    void *found = find_function(name);
    return found ? found : next->clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void *CL_API_CALL get_any_function(const char *name) {
    void *found = find_function(name);
    return found ? found : next->clGetExtensionFunctionAddress(name);
}

/* Queues */

/* The queue executes; commands that enter it are caught here. */
static cl_command_queue mark_recordable(cl_command_queue queue, cl_int *error) {
    if (queue && clml_add_recordable(queue) != CL_SUCCESS) {
        next->clReleaseCommandQueue(queue);
        queue = NULL;
        if (error) {
            *error = CL_OUT_OF_HOST_MEMORY;
        }
    }
    return queue;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *error) {
    cl_command_queue_properties rest = properties & ~CL_QUEUE_RECORDABLE_QCOM;
    cl_command_queue queue = next->clCreateCommandQueue(context, device, rest, error);
    return rest == properties ? queue : mark_recordable(queue, error);
}

static cl_command_queue CL_API_CALL create_queue_with_properties(
    cl_context context, cl_device_id device, const cl_queue_properties *properties,
    cl_int *error) {
    cl_queue_properties rest[32];
    size_t count = 0;
    int is_recordable = 0;
    for (; properties && properties[count] && count < 28; count += 2) {
        rest[count] = properties[count];
        rest[count + 1] = properties[count + 1];
        if (rest[count] == CL_QUEUE_PROPERTIES && (rest[count + 1] & CL_QUEUE_RECORDABLE_QCOM)) {
            rest[count + 1] &= ~CL_QUEUE_RECORDABLE_QCOM;
            is_recordable = 1;
        }
    }
    rest[count] = 0;
    cl_command_queue queue = next->clCreateCommandQueueWithProperties(
        context, device, is_recordable ? rest : properties, error);
    return is_recordable ? mark_recordable(queue, error) : queue;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue) {
    cl_uint references = 0;
    if (clml_is_recordable(queue) &&
        next->clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references,
                                    &references, NULL) == CL_SUCCESS &&
        references == 1) {
        clml_remove_recordable(queue);
    }
    return next->clReleaseCommandQueue(queue);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *event) {
    if (clml_is_recordable(queue)) {
        return clml_record_kernel(queue, kernel, dimensions, offset, global, local, wait_count,
                                  event);
    }
    return next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                        wait_count, waits, event);
}

/* Commands that cannot be recorded. */
#define NOT_RECORDED(name, parameters, arguments) \
    static cl_int CL_API_CALL refuse_##name parameters { \
        cl_int error = clml_refuse_recordable("clEnqueue" #name, queue); \
        return error ? error : next->clEnqueue##name arguments; \
    }

NOT_RECORDED(ReadBuffer,
             (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
              void *host, cl_uint wait_count, const cl_event *waits, cl_event *event),
             (queue, buffer, blocking, offset, bytes, host, wait_count, waits, event))
NOT_RECORDED(WriteBuffer,
             (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
              const void *host, cl_uint wait_count, const cl_event *waits, cl_event *event),
             (queue, buffer, blocking, offset, bytes, host, wait_count, waits, event))
NOT_RECORDED(CopyBuffer,
             (cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
              size_t target_offset, size_t bytes, cl_uint wait_count, const cl_event *waits,
              cl_event *event),
             (queue, source, target, source_offset, target_offset, bytes, wait_count, waits,
              event))
NOT_RECORDED(FillBuffer,
             (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
              size_t offset, size_t bytes, cl_uint wait_count, const cl_event *waits,
              cl_event *event),
             (queue, buffer, pattern, pattern_bytes, offset, bytes, wait_count, waits, event))
NOT_RECORDED(CopyImage,
             (cl_command_queue queue, cl_mem source, cl_mem target, const size_t *source_origin,
              const size_t *target_origin, const size_t *region, cl_uint wait_count,
              const cl_event *waits, cl_event *event),
             (queue, source, target, source_origin, target_origin, region, wait_count, waits,
              event))
NOT_RECORDED(CopyImageToBuffer,
             (cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t *origin,
              const size_t *region, size_t offset, cl_uint wait_count, const cl_event *waits,
              cl_event *event),
             (queue, image, buffer, origin, region, offset, wait_count, waits, event))
NOT_RECORDED(CopyBufferToImage,
             (cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset,
              const size_t *origin, const size_t *region, cl_uint wait_count,
              const cl_event *waits, cl_event *event),
             (queue, buffer, image, offset, origin, region, wait_count, waits, event))

/* Buffers */

static cl_mem CL_API_CALL create_buffer(cl_context context, const cl_mem_properties *properties,
                                        cl_mem_flags flags, size_t bytes, void *host,
                                        cl_int *error) {
    int is_onchip = 0;
    size_t offset = 0;
    for (const cl_mem_properties *each = properties; each && *each; each += 2) {
        if (each[0] == CL_MEM_ONCHIP_GLOBAL_QCOM) {
            is_onchip = each[1] != 0;
        } else if (each[0] == CL_MEM_ONCHIP_GLOBAL_OFFSET_QCOM) {
            offset = (size_t)each[1];
        }
    }
    return is_onchip
               ? clml_create_onchip(context, flags, offset, bytes, error)
               : next->clCreateBufferWithProperties(context, properties, flags, bytes, host,
                                                    error);
}

/* What loaders ask for */

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room,
                                                        void *place, size_t *needed) {
    static const char name[] = "CLML reference";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    switch (what) {
    case CL_LAYER_API_VERSION:
        return answer(&version, sizeof version, room, place, needed);
    case CL_LAYER_NAME:
        return answer(name, sizeof name, room, place, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

static void take_place(cl_icd_dispatch *table) {
    table->clGetDeviceInfo = get_device_info;
    table->clGetExtensionFunctionAddress = get_any_function;
    table->clGetExtensionFunctionAddressForPlatform = get_function;
    table->clCreateCommandQueue = create_queue;
    table->clCreateCommandQueueWithProperties = create_queue_with_properties;
    table->clReleaseCommandQueue = release_queue;
    table->clEnqueueNDRangeKernel = enqueue_kernel;
    table->clEnqueueReadBuffer = refuse_ReadBuffer;
    table->clEnqueueWriteBuffer = refuse_WriteBuffer;
    table->clEnqueueCopyBuffer = refuse_CopyBuffer;
    table->clEnqueueFillBuffer = refuse_FillBuffer;
    table->clEnqueueCopyImage = refuse_CopyImage;
    table->clEnqueueCopyImageToBuffer = refuse_CopyImageToBuffer;
    table->clEnqueueCopyBufferToImage = refuse_CopyBufferToImage;
    table->clCreateBufferWithProperties = create_buffer;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
                                                     cl_uint *count_ret,
                                                     const cl_icd_dispatch **table_ret) {
    static cl_icd_dispatch tables[4]; /* a loader keeps its own */
    static size_t used;
    const cl_uint members = sizeof(cl_icd_dispatch) / sizeof(void *);
    if (!target || !count_ret || !table_ret || count < members) {
        return CL_INVALID_VALUE;
    }
    clml_lock();
    cl_int error = CL_OUT_OF_RESOURCES;
    if (used < sizeof tables / sizeof *tables) {
        cl_icd_dispatch *table = &tables[used++];
        *table = *target;
        take_place(table);
        next = next ? next : target;
        *count_ret = members;
        *table_ret = table;
        error = CL_SUCCESS;
    }
    clml_unlock();
    return error;
}

#endif
