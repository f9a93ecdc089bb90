/* Queries, and the creation of all objects that commands work on. */
#include "fake_objects.h"

/* Queries */

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t bytes,
                                     void *result, size_t *needed) {
    return id ? ANSWER_TEXT("fake") : (cl_int)CL_INVALID_PLATFORM;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t bytes,
                                   void *result, size_t *needed) {
    fake_live(id, DEVICE, "clGetDeviceInfo");
    switch (what) {
    case CL_DEVICE_PLATFORM:
        return ANSWER(cl_platform_id, fake_platform_id());
    case CL_DEVICE_EXTENSIONS:
        return ANSWER_TEXT(fake.extensions);
    case CL_DEVICE_NAME:
    case CL_DEVICE_VERSION:
    case CL_DRIVER_VERSION:
        return ANSWER_TEXT("fake");
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return ANSWER(cl_uint, 8 * BASE_ALIGNMENT);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return ANSWER(cl_ulong, 1u << 30);
    case CL_DEVICE_IMAGE_SUPPORT:
        return ANSWER(cl_bool, CL_TRUE);
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
        return ANSWER(cl_uint, 8);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
        return ANSWER(size_t, 1024);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
        return ANSWER(size_t, 8192);
    case CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR:
        return ANSWER(cl_device_command_buffer_capabilities_khr,
                      CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR);
    case CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE:
        return ANSWER(cl_uint, fake.recordable_launches);
    default:
        fake_fault("an unknown question about the device");
        return CL_INVALID_VALUE;
    }
}

/* Context and queue */

RETAIN(clRetainContext, cl_context, CONTEXT)
RELEASE(clReleaseContext, cl_context, CONTEXT)
RETAIN(clRetainCommandQueue, cl_command_queue, QUEUE)
RELEASE(clReleaseCommandQueue, cl_command_queue, QUEUE)
cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id id,
                                                  cl_command_queue_properties properties,
                                                  cl_int *error) {
    fake_live(context, CONTEXT, "clCreateCommandQueue");
    object *made = fake_create(QUEUE, NULL, error);
    if (made) {
        made->properties = properties;
    }
    return (cl_command_queue)made;
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info what,
                                         size_t bytes, void *result, size_t *needed) {
    object *queue = fake_live(handle, QUEUE, "clGetCommandQueueInfo");
    switch (what) {
    case CL_QUEUE_CONTEXT:
        return ANSWER(cl_context, fake_context());
    case CL_QUEUE_DEVICE:
        return ANSWER(cl_device_id, fake_device_id());
    default:
        return ANSWER(cl_command_queue_properties, queue->properties);
    }
}

/* Memory */

static cl_mem fill(object *memory, cl_mem_flags flags, size_t bytes, const void *data) {
    if (memory) {
        memory->flags = flags;
        memory->bytes = bytes;
        memory->data = memory->parent ? memory->parent->data + memory->offset
                                      : __real_calloc(bytes, 1);
        if (data) {
            memcpy(memory->data, data, bytes);
        }
    }
    return (cl_mem)memory;
}

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *data,
                                  cl_int *error) {
    fake_live(context, CONTEXT, "clCreateBuffer");
    object *made = fake_create(MEMORY, NULL, error);
    if (made) {
        made->type = CL_MEM_OBJECT_BUFFER;
    }
    return fill(made, flags, bytes, data);
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void *info, cl_int *error) {
    const cl_buffer_region *region = info;
    object *parent = fake_live(handle, MEMORY, "clCreateSubBuffer");
    if (parent->parent || region->origin % BASE_ALIGNMENT || !region->size ||
        region->origin + region->size > parent->bytes) {
        fake_fault("no valid part of a buffer");
        *error = CL_INVALID_VALUE;
        return NULL;
    }
    object *made = fake_create(MEMORY, parent, error);
    if (made) {
        made->type = CL_MEM_OBJECT_BUFFER;
        made->offset = region->origin;
    }
    return fill(made, flags ? flags : parent->flags, region->size, NULL);
}

static size_t texel_bytes(const cl_image_format *format) {
    return format->image_channel_data_type == CL_FLOAT ? 16 : 8;
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                 const cl_image_format *format, const cl_image_desc *description,
                                 void *data, cl_int *error) {
    object *buffer =
        description->buffer ? fake_live(description->buffer, MEMORY, "clCreateImage") : NULL;
    size_t height = description->image_height ? description->image_height : 1;
    size_t layers = description->image_array_size ? description->image_array_size : 1;
    size_t row = description->image_width * texel_bytes(format);
    size_t pitch = description->image_row_pitch ? description->image_row_pitch : row;
    fake_live(context, CONTEXT, "clCreateImage");
    if (pitch < row || (buffer && pitch * height > buffer->bytes)) {
        fake_fault("an image beyond its buffer");
    }
    object *made = fake_create(MEMORY, buffer, error);
    if (made) {
        made->type = description->image_type;
        made->extents[0] = description->image_width;
        made->extents[1] = height;
        made->extents[2] = layers;
        made->format = *format;
    }
    return fill(made, flags, pitch * height * layers, data);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type type, cl_uint room,
                                              cl_image_format *formats, cl_uint *count) {
    const cl_image_format known[] = {{CL_RGBA, CL_HALF_FLOAT}, {CL_RGBA, CL_FLOAT}};
    fake_live(context, CONTEXT, "clGetSupportedImageFormats");
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (formats) {
        memcpy(formats, known, (room < 2 ? room : 2) * sizeof *known);
    }
    if (count) {
        *count = 2;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem handle, cl_mem_info what, size_t bytes, void *result,
                                      size_t *needed) {
    object *memory = fake_live(handle, MEMORY, "clGetMemObjectInfo");
    switch (what) {
    case CL_MEM_TYPE:
        return ANSWER(cl_mem_object_type, memory->type);
    case CL_MEM_CONTEXT:
        return ANSWER(cl_context, fake_context());
    case CL_MEM_SIZE:
        return ANSWER(size_t, memory->bytes);
    case CL_MEM_FLAGS:
        return ANSWER(cl_mem_flags, memory->flags);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return ANSWER(cl_mem, (cl_mem)memory->parent);
    case CL_MEM_OFFSET:
        return ANSWER(size_t, memory->offset);
    default:
        fake_fault("an unknown question about memory");
        return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info what, size_t bytes, void *result,
                                  size_t *needed) {
    object *memory = fake_live(image, MEMORY, "clGetImageInfo");
    switch (what) {
    case CL_IMAGE_WIDTH:
        return ANSWER(size_t, memory->extents[0]);
    case CL_IMAGE_HEIGHT:
        return ANSWER(size_t, memory->extents[1]);
    case CL_IMAGE_FORMAT:
        return fake_answer(&memory->format, sizeof memory->format, bytes, result, needed);
    default:
        fake_fault("an unknown question about an image");
        return CL_INVALID_VALUE;
    }
}

RETAIN(clRetainMemObject, cl_mem, MEMORY)
RELEASE(clReleaseMemObject, cl_mem, MEMORY)

/* Programs and kernels */

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                 const char **lines, const size_t *lengths,
                                                 cl_int *error) {
    fake_live(context, CONTEXT, "clCreateProgramWithSource");
    for (cl_uint i = 0; i < count; i++) {
        if (!lines[i]) {
            fake_fault("a line that is a null pointer");
        }
    }
    return (cl_program)fake_create(PROGRAM, NULL, error);
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id *ids, const size_t *bytes,
                                                 const unsigned char **binaries, cl_int *accepted,
                                                 cl_int *error) {
    fake_live(context, CONTEXT, "clCreateProgramWithBinary");
    *accepted = *bytes == 4 && memcmp(*binaries, "fake", 4) == 0 ? CL_SUCCESS : CL_INVALID_BINARY;
    return (cl_program)fake_create(PROGRAM, NULL, error);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *ids,
                                  const char *options,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    fake_live(program, PROGRAM, "clBuildProgram");
    return fake_fails() ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id id,
                                         cl_program_build_info what, size_t bytes, void *result,
                                         size_t *needed) {
    fake_live(program, PROGRAM, "clGetProgramBuildInfo");
    return ANSWER_TEXT("the compiler's words");
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes,
                                    void *result, size_t *needed) {
    fake_live(program, PROGRAM, "clGetProgramInfo");
    if (what == CL_PROGRAM_BINARY_SIZES) {
        return ANSWER(size_t, 4);
    }
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(*(unsigned char **)result, "fake", 4);
    return CL_SUCCESS;
}

RELEASE(clReleaseProgram, cl_program, PROGRAM)
cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *error) {
    object *made = fake_create(KERNEL, fake_live(program, PROGRAM, "clCreateKernel"), error);
    if (made) {
        snprintf(made->name, sizeof made->name, "%s", name);
        made->state.kernel = made;
    }
    return (cl_kernel)made;
}

RELEASE(clReleaseKernel, cl_kernel, KERNEL)

/* Only kernels of program files are asked for their arguments, and the tests here have none. */
cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t bytes,
                                   void *result, size_t *needed) {
    fake_live(kernel, KERNEL, "clGetKernelInfo");
    return ANSWER(cl_uint, 0);
}

/* An argument as large as a handle is taken for memory: no kernel of the tests has a long. */
cl_int CL_API_CALL clSetKernelArg(cl_kernel handle, cl_uint index, size_t bytes,
                                  const void *value) {
    object *kernel = fake_live(handle, KERNEL, "clSetKernelArg");
    if (index >= MOST_ARGUMENTS || bytes > 8) {
        fake_fault("an argument that no kernel has");
        return CL_INVALID_ARG_INDEX;
    }
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (bytes == sizeof(cl_mem)) {
        fake_live(*(cl_mem const *)value, MEMORY, "clSetKernelArg");
    }
    kernel->state.arguments[index].bytes = bytes;
    memcpy(kernel->state.arguments[index].value, value, bytes);
    return CL_SUCCESS;
}
