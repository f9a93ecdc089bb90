/* Checks of the device and the queue for a model. */
#include "clopt_internal.h"

#include <stdlib.h>
#include <string.h>

/* OpenCL's two functions for texts differ only in the type of the queried object. */
typedef cl_int(CL_API_CALL *text_query)(void *object, cl_uint what, size_t bytes, void *text,
                                        size_t *needed);

static cl_int CL_API_CALL query_device(void *object, cl_uint what, size_t bytes, void *text,
                                       size_t *needed) {
    return clGetDeviceInfo((cl_device_id)object, what, bytes, text, needed);
}

static cl_int CL_API_CALL query_platform(void *object, cl_uint what, size_t bytes, void *text,
                                         size_t *needed) {
    return clGetPlatformInfo((cl_platform_id)object, what, bytes, text, needed);
}

static char *text_of(text_query query, void *object, cl_uint what) {
    size_t bytes = 0;
    if (query(object, what, 0, NULL, &bytes) != CL_SUCCESS) {
        bytes = 0;
    }
    char *text = calloc(bytes + 1, 1);
    if (text && bytes > 0) {
        query(object, what, bytes, text, NULL);
    }
    return text;
}

char *clopt_device_text(cl_device_id device, cl_device_info what) {
    return text_of(query_device, device, what);
}

char *clopt_platform_text(cl_device_id device, cl_platform_info what) {
    cl_platform_id platform = NULL;
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    return text_of(query_platform, platform, what);
}

int clopt_has_extension(const char *extensions, const char *name) {
    size_t length = strlen(name);
    for (const char *at = extensions; (at = strstr(at, name)); at += length) {
        int starts = at == extensions || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

clopt_status clopt_check_queue(clopt_model *model) {
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_command_queue_properties properties = 0;
    cl_int error =
        clGetCommandQueueInfo(model->queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (error == CL_SUCCESS) {
        error = clGetCommandQueueInfo(model->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    }
    if (error == CL_SUCCESS) {
        error = clGetCommandQueueInfo(model->queue, CL_QUEUE_PROPERTIES, sizeof properties,
                                      &properties, NULL);
    }
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetCommandQueueInfo", "the given queue", error);
    }
    if (context != model->context || device != model->device) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "The queue belongs to another context or device than the options.");
    }
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "A model needs an in-order queue, but the given one is out-of-order.");
    }
    return CLOPT_OK;
}

static clopt_status fail_feature(clopt_model *model, const char *feature, const char *remedy) {
    return clopt_fail(model, CLOPT_DEVICE,
                      "%s was compiled to use %s, which the device does not have; compile it for "
                      "this device, or with %s.",
                      model->program->info->name, feature, remedy);
}

int clopt_has_rounding_option(cl_device_id device) {
    cl_device_fp_config config = 0;
    clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
    return (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

static int rounds_correctly(cl_device_id device) {
    cl_device_type type = 0;
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    /* CPUs divide by IEEE 754 with or without the option. */
    return (type & CL_DEVICE_TYPE_CPU) != 0 || clopt_has_rounding_option(device);
}

/* NVIDIA devices have the instruction from compute capability 6.1 on. */
static int has_dp4a(cl_device_id device, const char *extensions) {
    enum { MAJOR = 0x4000, MINOR = 0x4001 }; /* cl_nv_device_attribute_query */
    cl_uint major = 0, minor = 0;
    if (!clopt_has_extension(extensions, "cl_nv_device_attribute_query")) {
        return 0;
    }
    clGetDeviceInfo(device, MAJOR, sizeof major, &major, NULL);
    clGetDeviceInfo(device, MINOR, sizeof minor, &minor, NULL);
    return major > 6 || (major == 6 && minor >= 1);
}

static clopt_status check_features(clopt_model *model, const char *extensions) {
    unsigned needs = model->program->needs;
    cl_bool images = CL_FALSE;
    clGetDeviceInfo(model->device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    if (needs & CLOPT_NEEDS_FP16 && !clopt_has_extension(extensions, "cl_khr_fp16")) {
        return fail_feature(model, "arithmetic in half precision (cl_khr_fp16)",
                            "the fact fp16=false of its target");
    }
    if (needs & CLOPT_NEEDS_FP64 && !clopt_has_extension(extensions, "cl_khr_fp64")) {
        return fail_feature(model, "arithmetic in double precision (cl_khr_fp64)",
                            "its f64 tensors cast to f32");
    }
    if (needs & CLOPT_NEEDS_ROUNDING && !rounds_correctly(model->device)) {
        return fail_feature(model, "correctly rounded division",
                            "the fact correctly_rounded_division=false of its target");
    }
    if (needs & CLOPT_NEEDS_IMAGES && !images) {
        return fail_feature(model, "images", "the fact texture=off of its target");
    }
    if (needs & CLOPT_NEEDS_DOTS &&
        !clopt_has_extension(extensions, "cl_khr_integer_dot_product")) {
        return fail_feature(model, "products of four bytes (cl_khr_integer_dot_product)",
                            "the fact dot_product=off of its target");
    }
    if (needs & CLOPT_NEEDS_PTX_DOTS && !has_dp4a(model->device, extensions)) {
        return fail_feature(model, "NVIDIA's instruction dp4a",
                            "the fact dot_product=off of its target");
    }
    return CLOPT_OK;
}

static clopt_status check_kernels(clopt_model *model) {
    const clopt_program *program = model->program;
    size_t group = 0;
    cl_uint reads = 0, writes = 0;
    clGetDeviceInfo(model->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    clGetDeviceInfo(model->device, CL_DEVICE_MAX_READ_IMAGE_ARGS, sizeof reads, &reads, NULL);
    clGetDeviceInfo(model->device, CL_DEVICE_MAX_WRITE_IMAGE_ARGS, sizeof writes, &writes, NULL);
    for (unsigned i = 0; i < program->command_count; i++) {
        const clopt_command *command = &program->commands[i];
        if (command->kind != CLOPT_LAUNCH) {
            continue;
        }
        const clopt_kernel *kernel = &program->kernels[command->kernel];
        size_t wanted = command->local[0] * command->local[1] * command->local[2];
        if (wanted > group) {
            return clopt_fail(model, CLOPT_DEVICE,
                              "The kernel %s needs work-groups of %zu work-items, but the device "
                              "allows %zu; compile the model for this device.",
                              kernel->name, wanted, group);
        }
        if (kernel->read_images > reads || kernel->written_images > writes) {
            return clopt_fail(model, CLOPT_DEVICE,
                              "The kernel %s reads %u images and writes %u, but the device allows "
                              "%u and %u; compile the model for this device.",
                              kernel->name, kernel->read_images, kernel->written_images,
                              (unsigned)reads, (unsigned)writes);
        }
    }
    return CLOPT_OK;
}

clopt_status clopt_check_device(clopt_model *model) {
    char *extensions = clopt_device_text(model->device, CL_DEVICE_EXTENSIONS);
    clopt_status status = CLOPT_HOST_MEMORY;
    if (extensions) {
        status = check_features(model, extensions);
    } else {
        clopt_fail(model, status, "There is not enough memory to query the device's features.");
    }
    free(extensions);
    return status == CLOPT_OK ? check_kernels(model) : status;
}
