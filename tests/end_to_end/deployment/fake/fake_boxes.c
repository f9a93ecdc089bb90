/* Transfers of rectangles, and fills. */
#include "fake_objects.h"

/* Memory and the place of a rectangle in it; of host memory, the bounds are not known. */
typedef struct side {
    cl_mem memory;
    unsigned char *data;
    const size_t *origin;
    size_t row_pitch, slice_pitch;
} side;

static size_t place_of(const side *at, size_t slice, size_t row) {
    return at->origin[0] + (at->origin[1] + row) * at->row_pitch +
           (at->origin[2] + slice) * at->slice_pitch;
}

static unsigned char *row_of(const side *at, size_t slice, size_t row, size_t bytes) {
    size_t start = place_of(at, slice, row);
    if (!at->memory) {
        return at->data + start;
    }
    object *memory = (object *)at->memory;
    if (start + bytes > memory->bytes) {
        fake_fault("a rectangle out of bounds");
        return NULL;
    }
    return memory->data + start;
}

static cl_int transfer(cl_command_queue queue, const side *from, const side *to,
                       const size_t *region, const char *word) {
    fake_live(queue, QUEUE, word);
    if (from->memory) {
        fake_live(from->memory, MEMORY, word);
    }
    if (to->memory) {
        fake_live(to->memory, MEMORY, word);
    }
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    for (size_t slice = 0; slice < region[2]; slice++) {
        for (size_t row = 0; row < region[1]; row++) {
            const unsigned char *source = row_of(from, slice, row, region[0]);
            unsigned char *target = row_of(to, slice, row, region[0]);
            if (source && target) {
                memcpy(target, source, region[0]);
            }
        }
    }
    fake_tell(word, "");
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueReadBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
    const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
    size_t host_row, size_t host_slice, void *data, cl_uint waits, const cl_event *wait_list,
    cl_event *event) {
    side from = {buffer, NULL, buffer_origin, buffer_row, buffer_slice};
    side to = {NULL, data, host_origin, host_row, host_slice};
    return transfer(queue, &from, &to, region, "read");
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
    const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
    size_t host_row, size_t host_slice, const void *data, cl_uint waits, const cl_event *wait_list,
    cl_event *event) {
    side from = {NULL, (unsigned char *)data, host_origin, host_row, host_slice};
    side to = {buffer, NULL, buffer_origin, buffer_row, buffer_slice};
    return transfer(queue, &from, &to, region, "write");
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem source, cl_mem target,
                                           const size_t *source_origin, const size_t *target_origin,
                                           const size_t *region, size_t source_row,
                                           size_t source_slice, size_t target_row,
                                           size_t target_slice, cl_uint waits,
                                           const cl_event *wait_list, cl_event *event) {
    side from = {source, NULL, source_origin, source_row, source_slice};
    side to = {target, NULL, target_origin, target_row, target_slice};
    return transfer(queue, &from, &to, region, "copy");
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                       size_t pattern_bytes, size_t offset, size_t bytes,
                                       cl_uint waits, const cl_event *wait_list, cl_event *event) {
    object *memory = fake_live(buffer, MEMORY, "clEnqueueFillBuffer");
    fake_live(queue, QUEUE, "clEnqueueFillBuffer");
    if (offset + bytes > memory->bytes || pattern_bytes != 1) {
        fake_fault("a fill out of bounds");
        return CL_INVALID_VALUE;
    }
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    memset(memory->data + offset, *(const unsigned char *)pattern, bytes);
    fake_tell("fill", "");
    return CL_SUCCESS;
}
