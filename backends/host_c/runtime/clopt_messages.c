/* Error messages. */
#include "clopt_internal.h"

#include <stdarg.h>
#include <stdio.h>

clopt_status clopt_fail(clopt_model *model, clopt_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(model->message, sizeof model->message, format, arguments);
    va_end(arguments);
    return status;
}

static const char *error_name(cl_int error) {
#define ROW(name) {name, #name}
    static const struct {
        cl_int error;
        const char *name;
    } rows[] = {
        ROW(CL_DEVICE_NOT_FOUND),
        ROW(CL_DEVICE_NOT_AVAILABLE),
        ROW(CL_COMPILER_NOT_AVAILABLE),
        ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        ROW(CL_OUT_OF_RESOURCES),
        ROW(CL_OUT_OF_HOST_MEMORY),
        ROW(CL_MEM_COPY_OVERLAP),
        ROW(CL_IMAGE_FORMAT_MISMATCH),
        ROW(CL_IMAGE_FORMAT_NOT_SUPPORTED),
        ROW(CL_BUILD_PROGRAM_FAILURE),
        ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        ROW(CL_INVALID_VALUE),
        ROW(CL_INVALID_DEVICE),
        ROW(CL_INVALID_CONTEXT),
        ROW(CL_INVALID_QUEUE_PROPERTIES),
        ROW(CL_INVALID_COMMAND_QUEUE),
        ROW(CL_INVALID_HOST_PTR),
        ROW(CL_INVALID_MEM_OBJECT),
        ROW(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
        ROW(CL_INVALID_IMAGE_SIZE),
        ROW(CL_INVALID_BINARY),
        ROW(CL_INVALID_BUILD_OPTIONS),
        ROW(CL_INVALID_PROGRAM),
        ROW(CL_INVALID_PROGRAM_EXECUTABLE),
        ROW(CL_INVALID_KERNEL_NAME),
        ROW(CL_INVALID_KERNEL),
        ROW(CL_INVALID_ARG_INDEX),
        ROW(CL_INVALID_ARG_VALUE),
        ROW(CL_INVALID_ARG_SIZE),
        ROW(CL_INVALID_KERNEL_ARGS),
        ROW(CL_INVALID_WORK_DIMENSION),
        ROW(CL_INVALID_WORK_GROUP_SIZE),
        ROW(CL_INVALID_WORK_ITEM_SIZE),
        ROW(CL_INVALID_GLOBAL_OFFSET),
        ROW(CL_INVALID_EVENT_WAIT_LIST),
        ROW(CL_INVALID_OPERATION),
        ROW(CL_INVALID_BUFFER_SIZE),
        ROW(CL_INVALID_GLOBAL_WORK_SIZE),
        ROW(CL_INVALID_IMAGE_DESCRIPTOR),
    };
#undef ROW
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].error == error) {
            return rows[i].name;
        }
    }
    return "an unknown error";
}

clopt_status clopt_fail_opencl(clopt_model *model, const char *call, const char *what,
                               cl_int error) {
    clopt_status status =
        error == CL_OUT_OF_HOST_MEMORY ? CLOPT_HOST_MEMORY : CLOPT_OPENCL;
    return clopt_fail(model, status, "%s for %s failed with %s (%d).", call, what,
                      error_name(error), (int)error);
}

const char *clopt_message(const clopt_model *model) {
    return model ? model->message : "The model is a null pointer.";
}

const char *clopt_status_name(clopt_status status) {
    static const char *const names[] = {
        "CLOPT_OK",     "CLOPT_ARGUMENT", "CLOPT_HOST_MEMORY", "CLOPT_FILE",    "CLOPT_WEIGHTS",
        "CLOPT_DEVICE", "CLOPT_BUILD",    "CLOPT_BUFFER",      "CLOPT_UNBOUND", "CLOPT_OPENCL",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "no clopt_status";
}

const char *clopt_dtype_name(clopt_dtype dtype) {
    static const char *const names[] = {
        "bool",   "int8",  "uint8",  "int16",   "uint16",  "int32",
        "uint32", "int64", "uint64", "float16", "float32", "float64",
    };
    return (size_t)dtype < sizeof names / sizeof *names ? names[dtype] : "no clopt_dtype";
}
