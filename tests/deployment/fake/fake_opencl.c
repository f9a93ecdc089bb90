#define CL_ENABLE_BETA_EXTENSIONS
#include "fake_internal.h"

#include <CL/cl_ext.h>
#include <CL/cl_ext_qcom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 16, MOST_LAUNCHES = 16, BASE_ALIGNMENT = 128, TEXT = 4096 };

typedef enum object_kind {
    PLATFORM,
    DEVICE,
    CONTEXT,
    QUEUE,
    MEMORY,
    PROGRAM,
    KERNEL,
    EVENT,
    RECORDING
} object_kind;

typedef struct argument {
    size_t bytes;
    unsigned char value[8];
} argument;

/* A kernel with the arguments of the time. */
typedef struct launch {
    struct object *kernel; /* NULL: another command, by its name */
    char name[32];
    argument arguments[MOST_ARGUMENTS];
} launch;

/* Anything that has a handle. It stays in memory when it is released, to be recognised. */
typedef struct object {
    object_kind kind;
    int references;
    struct object *parent; /* what it holds a reference to */
    struct object *next;   /* older */
    cl_mem_object_type type;
    cl_mem_flags flags;
    cl_command_queue_properties properties;
    size_t offset, bytes, extents[3];
    unsigned char *data; /* of memory; its own without a parent */
    char name[32];
    launch state; /* of a kernel */
    launch *launches;
    int launch_count, is_ended;
} object;

fake_device fake = {"", 0, 0, 0};
int fake_faults;

static long calls, failing;
static char words[TEXT], told[TEXT];
static object *objects, *recorder;
static object platform = {.kind = PLATFORM, .references = 1}, device = {.kind = DEVICE, .references = 1};

/* Failures */

int fake_fails(void) {
    return ++calls == failing;
}

static int fails(void) {
    return fake_fails();
}

void fake_fault(const char *what) {
    fake_faults++;
    fprintf(stderr, "fault at call %ld: %s\n", calls, what);
}

static void fault(const char *what) {
    fake_fault(what);
}

static void add_word(const char *word, const char *name) {
    size_t used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s%s%s%s", used ? " " : "", word, *name ? ":" : "",
             name);
}

void fake_fail(long nth) {
    calls = 0;
    failing = nth;
}

long fake_calls(void) {
    return calls;
}

const char *fake_commands(void) {
    memcpy(told, words, sizeof told);
    words[0] = '\0';
    return told;
}

/* The linker lets the program under test call these. */
void *__real_malloc(size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes) {
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
    return fails() ? NULL : __real_realloc(old, bytes);
}

/* Objects */

static object *make(object_kind kind, object *parent) {
    object *made = __real_calloc(1, sizeof *made);
    made->kind = kind;
    made->references = 1;
    made->parent = parent;
    made->next = objects;
    objects = made;
    if (parent) {
        parent->references++;
    }
    return made;
}

static object *live(const void *handle, object_kind kind, const char *call) {
    object *found = (object *)handle;
    if (!found || found->kind != kind || found->references <= 0) {
        fault(call);
        return NULL;
    }
    return found;
}

static cl_int retain(const void *handle, object_kind kind, const char *call) {
    object *found = live(handle, kind, call);
    if (!found || fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    found->references++;
    return CL_SUCCESS;
}

static cl_int release(const void *handle, object_kind kind, const char *call) {
    object *found = live(handle, kind, call);
    if (found && --found->references == 0 && found->parent) {
        release(found->parent, found->parent->kind, call);
    }
    return found ? CL_SUCCESS : CL_INVALID_VALUE;
}

int fake_end(int expected) {
    int references = 0;
    while (objects) {
        object *next = objects->next;
        if (objects->references > 0) {
            references += objects->references;
        }
        if (objects->kind == MEMORY && !objects->parent) {
            free(objects->data);
        }
        free(objects->launches);
        free(objects);
        objects = next;
    }
    recorder = NULL;
    return references - expected + fake_clml_end();
}

cl_device_id fake_device_id(void) {
    return (cl_device_id)&device;
}

cl_context fake_create_context(void) {
    return (cl_context)make(CONTEXT, NULL);
}

cl_command_queue fake_create_queue(void) {
    return (cl_command_queue)make(QUEUE, NULL);
}

/* `create` with the error where calls take one; NULL where the call fails. */
static object *create(object_kind kind, object *parent, cl_int *error) {
    int failed = fails();
    if (error) {
        *error = failed ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    }
    return failed ? NULL : make(kind, parent);
}

/* Questions */

static cl_int answer(const void *value, size_t size, size_t bytes, void *result, size_t *needed) {
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (result && bytes < size) {
        fault("too little room for an answer");
        return CL_INVALID_VALUE;
    }
    if (result) {
        memcpy(result, value, size);
    }
    if (needed) {
        *needed = size;
    }
    return CL_SUCCESS;
}

#define ANSWER(type, value) \
    answer(&(type){value}, sizeof(type), bytes, result, needed)
#define ANSWER_TEXT(text) answer(text, strlen(text) + 1, bytes, result, needed)

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t bytes,
                                     void *result, size_t *needed) {
    (void)what;
    return id ? ANSWER_TEXT("fake") : (cl_int)CL_INVALID_PLATFORM;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t bytes,
                                   void *result, size_t *needed) {
    live(id, DEVICE, "clGetDeviceInfo");
    switch (what) {
    case CL_DEVICE_PLATFORM:
        return ANSWER(cl_platform_id, (cl_platform_id)&platform);
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
        fault("an unknown question about the device");
        return CL_INVALID_VALUE;
    }
}

/* Context and queue */

cl_int CL_API_CALL clRetainContext(cl_context context) {
    return retain(context, CONTEXT, "clRetainContext");
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
    return release(context, CONTEXT, "clReleaseContext");
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
    return retain(queue, QUEUE, "clRetainCommandQueue");
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
    return release(queue, QUEUE, "clReleaseCommandQueue");
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id id,
                                                  cl_command_queue_properties properties,
                                                  cl_int *error) {
    (void)id;
    live(context, CONTEXT, "clCreateCommandQueue");
    object *made = create(QUEUE, NULL, error);
    if (made) {
        made->properties = properties;
    }
    return (cl_command_queue)made;
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info what,
                                         size_t bytes, void *result, size_t *needed) {
    object *queue = live(handle, QUEUE, "clGetCommandQueueInfo");
    object *context = objects;
    while (context && context->kind != CONTEXT) {
        context = context->next;
    }
    switch (what) {
    case CL_QUEUE_CONTEXT:
        return ANSWER(cl_context, (cl_context)context);
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
    live(context, CONTEXT, "clCreateBuffer");
    object *made = create(MEMORY, NULL, error);
    if (made) {
        made->type = CL_MEM_OBJECT_BUFFER;
    }
    return fill(made, flags, bytes, data);
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void *info, cl_int *error) {
    const cl_buffer_region *region = info;
    object *parent = live(handle, MEMORY, "clCreateSubBuffer");
    (void)type;
    if (parent->parent || region->origin % BASE_ALIGNMENT || !region->size ||
        region->origin + region->size > parent->bytes) {
        fault("no valid part of a buffer");
        *error = CL_INVALID_VALUE;
        return NULL;
    }
    object *made = create(MEMORY, parent, error);
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
    object *buffer = description->buffer ? live(description->buffer, MEMORY, "clCreateImage") : NULL;
    size_t height = description->image_height ? description->image_height : 1;
    size_t layers = description->image_array_size ? description->image_array_size : 1;
    size_t row = description->image_width * texel_bytes(format);
    size_t pitch = description->image_row_pitch ? description->image_row_pitch : row;
    live(context, CONTEXT, "clCreateImage");
    if (pitch < row || (buffer && pitch * height > buffer->bytes)) {
        fault("an image beyond its buffer");
    }
    object *made = create(MEMORY, buffer, error);
    if (made) {
        made->type = description->image_type;
        made->extents[0] = description->image_width;
        made->extents[1] = height;
        made->extents[2] = layers;
    }
    return fill(made, flags, pitch * height * layers, data);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type type, cl_uint room,
                                              cl_image_format *formats, cl_uint *count) {
    const cl_image_format known[] = {{CL_RGBA, CL_HALF_FLOAT}, {CL_RGBA, CL_FLOAT}};
    (void)flags;
    (void)type;
    live(context, CONTEXT, "clGetSupportedImageFormats");
    if (fails()) {
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
    object *memory = live(handle, MEMORY, "clGetMemObjectInfo");
    object *context = objects;
    while (context && context->kind != CONTEXT) {
        context = context->next;
    }
    switch (what) {
    case CL_MEM_TYPE:
        return ANSWER(cl_mem_object_type, memory->type);
    case CL_MEM_CONTEXT:
        return ANSWER(cl_context, (cl_context)context);
    case CL_MEM_SIZE:
        return ANSWER(size_t, memory->bytes);
    case CL_MEM_FLAGS:
        return ANSWER(cl_mem_flags, memory->flags);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return ANSWER(cl_mem, (cl_mem)memory->parent);
    case CL_MEM_OFFSET:
        return ANSWER(size_t, memory->offset);
    default:
        fault("an unknown question about memory");
        return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) {
    return retain(memory, MEMORY, "clRetainMemObject");
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
    return release(memory, MEMORY, "clReleaseMemObject");
}

/* Programs and kernels */

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                 const char **lines, const size_t *lengths,
                                                 cl_int *error) {
    (void)lengths;
    live(context, CONTEXT, "clCreateProgramWithSource");
    for (cl_uint i = 0; i < count; i++) {
        if (!lines[i]) {
            fault("a line that is a null pointer");
        }
    }
    return (cl_program)create(PROGRAM, NULL, error);
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id *ids, const size_t *bytes,
                                                 const unsigned char **binaries, cl_int *accepted,
                                                 cl_int *error) {
    (void)count;
    (void)ids;
    live(context, CONTEXT, "clCreateProgramWithBinary");
    *accepted = *bytes == 4 && memcmp(*binaries, "fake", 4) == 0 ? CL_SUCCESS : CL_INVALID_BINARY;
    return (cl_program)create(PROGRAM, NULL, error);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *ids,
                                  const char *options,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    (void)count;
    (void)ids;
    (void)options;
    (void)notify;
    (void)data;
    live(program, PROGRAM, "clBuildProgram");
    return fails() ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id id,
                                         cl_program_build_info what, size_t bytes, void *result,
                                         size_t *needed) {
    (void)id;
    (void)what;
    live(program, PROGRAM, "clGetProgramBuildInfo");
    return ANSWER_TEXT("the compiler's words");
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes,
                                    void *result, size_t *needed) {
    live(program, PROGRAM, "clGetProgramInfo");
    if (what == CL_PROGRAM_BINARY_SIZES) {
        return ANSWER(size_t, 4);
    }
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(*(unsigned char **)result, "fake", 4);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
    return release(program, PROGRAM, "clReleaseProgram");
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *error) {
    object *made = create(KERNEL, live(program, PROGRAM, "clCreateKernel"), error);
    if (made) {
        snprintf(made->name, sizeof made->name, "%s", name);
        made->state.kernel = made;
    }
    return (cl_kernel)made;
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
    return release(kernel, KERNEL, "clReleaseKernel");
}


/* What has the size of a handle is taken for memory: no kernel of the tests has a long. */
cl_int CL_API_CALL clSetKernelArg(cl_kernel handle, cl_uint index, size_t bytes,
                                  const void *value) {
    object *kernel = live(handle, KERNEL, "clSetKernelArg");
    if (index >= MOST_ARGUMENTS || bytes > 8) {
        fault("an argument that no kernel has");
        return CL_INVALID_ARG_INDEX;
    }
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (bytes == sizeof(cl_mem)) {
        live(*(cl_mem const *)value, MEMORY, "clSetKernelArg");
    }
    kernel->state.arguments[index].bytes = bytes;
    memcpy(kernel->state.arguments[index].value, value, bytes);
    return CL_SUCCESS;
}

/* Commands */

static cl_int complete(cl_event *event) {
    if (event) {
        *event = (cl_event)make(EVENT, NULL);
    }
    return CL_SUCCESS;
}

static object *memory_at(const launch *what, int index) {
    object *memory;
    memcpy(&memory, what->arguments[index].value, sizeof memory);
    return memory;
}

/* Arguments have no gaps and are alive; kernels do not retain them. */
static void check_launch(const launch *what) {
    if (!what->kernel) {
        return;
    }
    int last = MOST_ARGUMENTS - 1;
    while (last >= 0 && !what->arguments[last].bytes) {
        last--;
    }
    for (int i = 0; i <= last; i++) {
        if (!what->arguments[i].bytes) {
            fault("an argument was not set");
        } else if (what->arguments[i].bytes == sizeof(cl_mem)) {
            live(memory_at(what, i), MEMORY, "an argument of a launch");
        }
    }
}

/* The two kernels of the runtime's own trial of images over buffers. */
static void execute_trial(const launch *what, const size_t *range) {
    static float first;
    if (strcmp(what->kernel->name, "paint") == 0) {
        memcpy(&first, what->arguments[1].value, sizeof first);
    } else if (strcmp(what->kernel->name, "scan") == 0 && fake.views_work) {
        float *texels = (float *)(void *)memory_at(what, 1)->data;
        for (size_t i = 0; i < range[0] * range[1]; i++) {
            float x = (float)(i % range[0]), y = (float)(i / range[0]);
            float texel[4] = {first + x, y, first, 1.0f};
            memcpy(texels + 4 * i, texel, sizeof texel);
        }
    }
}

static cl_int record(object *recording, const launch *what) {
    if (recording->launch_count == MOST_LAUNCHES || recording->is_ended) {
        fault("a recording is full or has ended");
        return CL_OUT_OF_RESOURCES;
    }
    recording->launches = __real_realloc(
        recording->launches, (size_t)(recording->launch_count + 1) * sizeof *what);
    recording->launches[recording->launch_count++] = *what;
    add_word("record", what->kernel ? what->kernel->name : what->name);
    return CL_SUCCESS;
}

static cl_int replay(const object *recording) {
    if (!recording->is_ended) {
        fault("a recording that has not ended is replayed");
    }
    for (int i = 0; i < recording->launch_count; i++) {
        check_launch(&recording->launches[i]);
        const launch *what = &recording->launches[i];
        add_word("replay", what->kernel ? what->kernel->name : what->name);
    }
    return CL_SUCCESS;
}

size_t fake_memory_bytes(cl_mem handle, const char *call) {
    const object *memory = live(handle, MEMORY, call);
    return memory ? memory->bytes : 0;
}

cl_int fake_command(cl_command_queue handle, const char *word, const char *name, cl_event *event) {
    const object *queue = live(handle, QUEUE, name);
    launch what;
    if (!(queue->properties & CL_QUEUE_RECORDABLE_QCOM)) {
        add_word(word, name);
        return complete(event);
    }
    if (!recorder) {
        fault("nothing is being recorded");
        return CL_INVALID_OPERATION;
    }
    memset(&what, 0, sizeof what);
    snprintf(what.name, sizeof what.name, "%s", name);
    return record(recorder, &what);
}

cl_int fake_replay(cl_command_queue queue, void *recording) {
    live(queue, QUEUE, "a replay");
    return replay(live(recording, RECORDING, "a replay"));
}

static void check_range(cl_uint dimensions, const size_t *global, const size_t *local) {
    for (cl_uint i = 0; i < dimensions; i++) {
        if (!global[i] || (local && (!local[i] || global[i] % local[i]))) {
            fault("no valid range of a launch");
        }
    }
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue handle, cl_kernel kernel,
                                          cl_uint dimensions, const size_t *offset,
                                          const size_t *global, const size_t *local, cl_uint waits,
                                          const cl_event *wait_list, cl_event *event) {
    object *queue = live(handle, QUEUE, "clEnqueueNDRangeKernel");
    const launch *what = &live(kernel, KERNEL, "clEnqueueNDRangeKernel")->state;
    (void)offset;
    (void)waits;
    (void)wait_list;
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    check_range(dimensions, global, local);
    check_launch(what);
    if (queue->properties & CL_QUEUE_RECORDABLE_QCOM) {
        if (!recorder) {
            fault("nothing is being recorded");
            return CL_INVALID_OPERATION;
        }
        return record(recorder, what);
    }
    execute_trial(what, global);
    add_word("launch", what->kernel->name);
    return complete(event);
}

/* The bytes of a transfer, or NULL. */
static unsigned char *bytes_of(cl_command_queue queue, cl_mem handle, size_t offset, size_t bytes,
                               const char *call) {
    object *memory = live(handle, MEMORY, call);
    live(queue, QUEUE, call);
    if (offset + bytes > memory->bytes) {
        fault("a transfer out of bounds");
        return NULL;
    }
    return memory->data + offset;
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t bytes, void *data, cl_uint waits,
                                       const cl_event *wait_list, cl_event *event) {
    const unsigned char *source = bytes_of(queue, buffer, offset, bytes, "clEnqueueReadBuffer");
    (void)blocking;
    (void)waits;
    (void)wait_list;
    (void)event;
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(data, source, bytes);
    add_word("read", "");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t bytes, const void *data,
                                        cl_uint waits, const cl_event *wait_list,
                                        cl_event *event) {
    unsigned char *target = bytes_of(queue, buffer, offset, bytes, "clEnqueueWriteBuffer");
    (void)blocking;
    (void)waits;
    (void)wait_list;
    (void)event;
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(target, data, bytes);
    add_word("write", "");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                       size_t from_offset, size_t to_offset, size_t bytes,
                                       cl_uint waits, const cl_event *wait_list, cl_event *event) {
    const unsigned char *source = bytes_of(queue, from, from_offset, bytes, "clEnqueueCopyBuffer");
    unsigned char *target = bytes_of(queue, to, to_offset, bytes, "clEnqueueCopyBuffer");
    (void)waits;
    (void)wait_list;
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(target, source, bytes);
    add_word("copy", "");
    return complete(event);
}

static cl_int copy_image(cl_command_queue queue, cl_mem image, const size_t *region, cl_mem other,
                         size_t offset, cl_event *event) {
    object *memory = live(image, MEMORY, "a copy of an image");
    size_t bytes = memory->bytes / memory->extents[0] / memory->extents[1] / memory->extents[2];
    for (int i = 0; i < 3; i++) {
        bytes *= region[i];
        if (!region[i] || region[i] > memory->extents[i]) {
            fault("a copy beyond an image");
        }
    }
    bytes_of(queue, other, offset, bytes, "a copy of an image");
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    add_word("copy", "image");
    return complete(event);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                      const size_t *from_origin, const size_t *to_origin,
                                      const size_t *region, cl_uint waits,
                                      const cl_event *wait_list, cl_event *event) {
    (void)from_origin;
    (void)to_origin;
    (void)waits;
    (void)wait_list;
    return copy_image(queue, from, region, to, 0, event);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                              const size_t *origin, const size_t *region,
                                              size_t offset, cl_uint waits,
                                              const cl_event *wait_list, cl_event *event) {
    (void)origin;
    (void)waits;
    (void)wait_list;
    return copy_image(queue, from, region, to, offset, event);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                              size_t offset, const size_t *origin,
                                              const size_t *region, cl_uint waits,
                                              const cl_event *wait_list, cl_event *event) {
    (void)origin;
    (void)waits;
    (void)wait_list;
    return copy_image(queue, to, region, from, offset, event);
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits,
                                               const cl_event *wait_list, cl_event *event) {
    cl_int error;
    (void)waits;
    (void)wait_list;
    live(queue, QUEUE, "clEnqueueMarkerWithWaitList");
    *event = (cl_event)create(EVENT, NULL, &error);
    return error;
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
    live(queue, QUEUE, "clFinish");
    return fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t bytes,
                                           void *result, size_t *needed) {
    live(event, EVENT, "clGetEventProfilingInfo");
    return ANSWER(cl_ulong, what == CL_PROFILING_COMMAND_START ? 100 : 107);
}

cl_int CL_API_CALL clReleaseEvent(cl_event event) {
    return release(event, EVENT, "clReleaseEvent");
}

/* Khronos' command buffers */

static cl_command_buffer_khr CL_API_CALL create_command_buffer(
    cl_uint count, const cl_command_queue *queues, const cl_command_buffer_properties_khr *wanted,
    cl_int *error) {
    (void)count;
    (void)wanted;
    live(*queues, QUEUE, "clCreateCommandBufferKHR");
    return (cl_command_buffer_khr)create(RECORDING, NULL, error);
}

static cl_int CL_API_CALL command_launch(
    cl_command_buffer_khr buffer, cl_command_queue queue,
    const cl_ndrange_kernel_command_properties_khr *properties, cl_kernel kernel,
    cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local,
    cl_uint waits, const cl_sync_point_khr *wait_list, cl_sync_point_khr *sync_point,
    cl_mutable_command_khr *command) {
    (void)queue;
    (void)properties;
    (void)offset;
    (void)waits;
    (void)wait_list;
    (void)sync_point;
    (void)command;
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    check_range(dimensions, global, local);
    const launch *what = &live(kernel, KERNEL, "clCommandNDRangeKernelKHR")->state;
    check_launch(what);
    return record(live(buffer, RECORDING, "clCommandNDRangeKernelKHR"), what);
}

static cl_int CL_API_CALL finalize_command_buffer(cl_command_buffer_khr buffer) {
    live(buffer, RECORDING, "clFinalizeCommandBufferKHR")->is_ended = 1;
    return fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue_command_buffer(cl_uint count, cl_command_queue *queues,
                                                 cl_command_buffer_khr buffer, cl_uint waits,
                                                 const cl_event *wait_list, cl_event *event) {
    (void)count;
    (void)queues;
    (void)waits;
    (void)wait_list;
    (void)event;
    return fails() ? CL_OUT_OF_RESOURCES
                   : replay(live(buffer, RECORDING, "clEnqueueCommandBufferKHR"));
}

static cl_int CL_API_CALL release_command_buffer(cl_command_buffer_khr buffer) {
    return release(buffer, RECORDING, "clReleaseCommandBufferKHR");
}

/* Qualcomm's recordings */

static void *CL_API_CALL new_recording(cl_command_queue handle, cl_int *error) {
    const object *queue = live(handle, QUEUE, "clNewRecordingQCOM");
    if (recorder || !(queue->properties & CL_QUEUE_RECORDABLE_QCOM)) {
        fault("a recording has begun, or cannot");
    }
    recorder = create(RECORDING, NULL, error);
    return recorder;
}

static cl_int CL_API_CALL end_recording(void *recording) {
    object *ended = live(recording, RECORDING, "clEndRecordingQCOM");
    if (fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (ended != recorder || (cl_uint)ended->launch_count > fake.recordable_launches) {
        fault("not the recording that has begun, or too long");
    }
    ended->is_ended = 1;
    recorder = NULL;
    add_word("end", "");
    return CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue_recording(cl_command_queue queue, void *recording, size_t a,
                                            const void *arguments, size_t b, const void *offsets,
                                            size_t c, const void *globals, size_t d,
                                            const void *locals, cl_uint waits,
                                            const cl_event *wait_list, cl_event *event) {
    (void)wait_list;
    (void)event;
    if (a || arguments || b || offsets || c || globals || d || locals || waits ||
        live(queue, QUEUE, "clEnqueueRecordingQCOM")->properties) {
        fault("a replay that changes something, or on the recorder");
    }
    return fails() ? CL_OUT_OF_RESOURCES
                   : replay(live(recording, RECORDING, "clEnqueueRecordingQCOM"));
}

static cl_int CL_API_CALL release_recording(void *recording) {
    if (recorder == recording) {
        recorder = NULL;
    }
    add_word("release", "");
    return release(recording, RECORDING, "clReleaseRecordingQCOM");
}

typedef void (*any_function)(void);

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id id, const char *name) {
    static const struct {
        const char *name;
        any_function function;
    } rows[] = {
        {"clCreateCommandBufferKHR", (any_function)create_command_buffer},
        {"clCommandNDRangeKernelKHR", (any_function)command_launch},
        {"clFinalizeCommandBufferKHR", (any_function)finalize_command_buffer},
        {"clEnqueueCommandBufferKHR", (any_function)enqueue_command_buffer},
        {"clReleaseCommandBufferKHR", (any_function)release_command_buffer},
        {"clNewRecordingQCOM", (any_function)new_recording},
        {"clEndRecordingQCOM", (any_function)end_recording},
        {"clEnqueueRecordingQCOM", (any_function)enqueue_recording},
        {"clReleaseRecordingQCOM", (any_function)release_recording},
    };
    void *found = NULL;
    if (!id || fails()) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            memcpy(&found, &rows[i].function, sizeof found);
        }
    }
    any_function clml = fake_clml_function(name);
    if (clml) {
        memcpy(&found, &clml, sizeof found);
    }
    return found;
}
