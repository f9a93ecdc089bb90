/* On-chip memory: one buffer per context, with sub-buffers; NaN after each replay. */
#include "reference.h"

#include <stdlib.h>

typedef struct onchip {
    struct onchip *next;
    cl_context context;
    cl_mem memory;
    cl_uint parts;
} onchip;

static onchip *onchips;

size_t clml_onchip_bytes(void) {
    const char *text = getenv("CLML_REFERENCE_ONCHIP_BYTES");
    return text ? (size_t)strtoul(text, NULL, 10) : (size_t)1 << 20;
}

static void CL_CALLBACK forget_part(cl_mem part, void *data) {
    onchip *whole = data;
    (void)part;
    clml_lock();
    if (--whole->parts == 0) {
        onchip **link = &onchips;
        while (*link != whole) {
            link = &(*link)->next;
        }
        *link = whole->next;
        clReleaseMemObject(whole->memory);
        free(whole);
    }
    clml_unlock();
}

static onchip *find_onchip(cl_context context, cl_int *error) {
    onchip *found = onchips;
    while (found && found->context != context) {
        found = found->next;
    }
    if (found) {
        return found;
    }
    onchip *made = calloc(1, sizeof *made);
    *error = CL_OUT_OF_HOST_MEMORY;
    if (made) {
        made->memory = clCreateBuffer(context, CL_MEM_READ_WRITE, clml_onchip_bytes(), NULL, error);
    }
    if (!made || !made->memory) {
        free(made);
        return NULL;
    }
    made->context = context;
    made->next = onchips;
    onchips = made;
    return made;
}

cl_mem clml_create_onchip(cl_context context, cl_mem_flags flags, size_t offset, size_t bytes,
                          cl_int *error) {
    const char *function = "clCreateBufferWithProperties";
    cl_int ignored;
    error = error ? error : &ignored;
    if (!bytes || offset > clml_onchip_bytes() || bytes > clml_onchip_bytes() - offset) {
        *error = clml_refuse(function, CL_INVALID_BUFFER_SIZE,
                             "bytes %zu to %zu are not all in the %zu of on-chip memory", offset,
                             offset + bytes, clml_onchip_bytes());
        return NULL;
    }
    clml_lock();
    cl_mem part = NULL;
    onchip *whole = find_onchip(context, error);
    if (whole) {
        cl_buffer_region region = {offset, bytes};
        whole->parts++;
        part = clCreateSubBuffer(whole->memory, flags, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                 error);
        if (!part) {
            forget_part(NULL, whole);
        } else {
            clSetMemObjectDestructorCallback(part, forget_part, whole);
        }
    }
    if (!part) {
        clml_refuse(function, *error, "there is no on-chip memory at byte %zu", offset);
    }
    clml_unlock();
    return part;
}

cl_int clml_spoil_onchip(cl_command_queue queue) {
    const cl_uint nan = 0x7FFF7FFF; /* as a float, and as two halves */
    cl_context context = NULL;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    for (onchip *each = onchips; each; each = each->next) {
        if (each->context == context) {
            return clEnqueueFillBuffer(queue, each->memory, &nan, sizeof nan, 0,
                                       clml_onchip_bytes() / sizeof nan * sizeof nan, 0, NULL,
                                       NULL);
        }
    }
    return CL_SUCCESS;
}
