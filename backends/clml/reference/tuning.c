/* Tuning caches: how long operations took.
 *
 * Saved, a cache is a magic text, the number of entries, two 64-bit numbers for each, and a
 * checksum of all that, in little endian. Nothing gets faster by it: this library has one way to
 * compute each operation.
 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char magic[8] = {'C', 'L', 'M', 'L', 'R', 'E', 'F', '1'};

#define HEAD_BYTES 16 /* the magic text and the number of entries */
#define ENTRY_BYTES 16
#define SUM_BYTES 8

typedef struct entry {
    cl_ulong digest, nanoseconds;
} entry;

typedef struct cache {
    clml_object object;
    size_t count;
    entry *entries;
} cache;

static void destroy(clml_object *object) {
    free(((cache *)object)->entries);
    free(object);
}

static void put(unsigned char *data, cl_ulong value) {
    for (int i = 0; i < 8; i++) {
        data[i] = (unsigned char)(value >> 8 * i);
    }
}

static cl_ulong get(const unsigned char *data) {
    cl_ulong value = 0;
    for (int i = 0; i < 8; i++) {
        value |= (cl_ulong)data[i] << 8 * i;
    }
    return value;
}

/* FNV-1a. */
static cl_ulong checksum(const unsigned char *data, size_t bytes) {
    cl_ulong sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ data[i]) * 0x100000001B3u;
    }
    return sum;
}

/* Adds an entry, or changes that of the same operation. */
static cl_int note(cache *into, cl_ulong digest, cl_ulong nanoseconds) {
    size_t i = 0;
    while (i < into->count && into->entries[i].digest != digest) {
        i++;
    }
    if (i == into->count) {
        entry *entries = realloc(into->entries, (i + 1) * sizeof *entries);
        if (!entries) {
            return CL_OUT_OF_HOST_MEMORY;
        }
        into->entries = entries;
        into->count++;
    }
    into->entries[i].digest = digest;
    into->entries[i].nanoseconds = nanoseconds;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_create_cache(cl_ml_tuningcache_qcom *out) {
    const char *function = "clCreateMLTuningCacheQCOM";
    if (!out) {
        return clml_refuse(function, CL_INVALID_VALUE, "the place for the cache is NULL");
    }
    clml_lock();
    cl_int error = CL_SUCCESS;
    cache *made = clml_new(CLML_CACHE, sizeof *made, destroy);
    *out = made ? clml_publish(made) : NULL;
    if (!*out) {
        error = clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
        clml_drop(made);
    }
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_release_cache(cl_ml_tuningcache_qcom handle) {
    clml_lock();
    cl_int error = clml_release("clReleaseMLTuningCacheQCOM", CLML_CACHE, handle);
    clml_unlock();
    return error;
}

/* The time of a command that has an event. */
static cl_int time_of(cl_event event, cl_ulong *nanoseconds) {
    cl_ulong start = 0, end = 0;
    cl_int error = clWaitForEvents(1, &event);
    error = error ? error
                  : clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start,
                                            &start, NULL);
    error = error ? error
                  : clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                            NULL);
    *nanoseconds = end - start;
    return error;
}

static cl_int tune(cl_command_queue queue, cl_ml_op_qcom op_handle,
                   cl_ml_tensor_mem_desc_set_qcom set_handle, cl_ml_tuningcache_qcom cache_handle,
                   cl_ulong *nanoseconds) {
    const char *function = "clTuneMLOpQCOM";
    clml_op *op = clml_find(function, CLML_OP, op_handle);
    clml_set *set = op ? clml_find(function, CLML_SET, set_handle) : NULL;
    cache *into = set ? clml_find(function, CLML_CACHE, cache_handle) : NULL;
    if (!into) {
        return CL_INVALID_VALUE;
    }
    cl_int error = clml_check_queue(function, op->context, queue, 0, NULL);
    error = error ? error : clml_refuse_recordable(function, queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_command_queue_properties properties = 0;
    clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (!(properties & CL_QUEUE_PROFILING_ENABLE)) {
        return clml_refuse(function, CL_INVALID_QUEUE_PROPERTIES,
                           "the queue must have CL_QUEUE_PROFILING_ENABLE");
    }
    cl_event event;
    error = clml_enqueue(function, queue, op, set, 0, NULL, &event);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_ulong taken = 0;
    error = time_of(event, &taken);
    clReleaseEvent(event);
    error = error ? error : note(into, op->digest, taken);
    if (error != CL_SUCCESS) {
        return clml_refuse(function, error, "the device gives no times");
    }
    if (nanoseconds) {
        *nanoseconds = taken;
    }
    clml_trace(function, "%s took %lu ns", op->name, (unsigned long)taken);
    return CL_SUCCESS;
}

static cl_int save(cl_ml_tuningcache_qcom handle, size_t bytes, unsigned char *data,
                   size_t *bytes_needed) {
    const char *function = "clSaveMLTuningCacheQCOM";
    const cache *saved = clml_find(function, CLML_CACHE, handle);
    if (!saved) {
        return CL_INVALID_VALUE;
    }
    size_t summed = HEAD_BYTES + saved->count * ENTRY_BYTES, needed = summed + SUM_BYTES;
    if (!data && !bytes_needed) {
        return clml_refuse(function, CL_INVALID_VALUE, "there is no place for data or length");
    }
    if (data && bytes < needed) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "%zu bytes are too few for the %zu there are", bytes, needed);
    }
    if (data) {
        memcpy(data, magic, sizeof magic);
        put(data + sizeof magic, saved->count);
        for (size_t i = 0; i < saved->count; i++) {
            unsigned char *place = data + HEAD_BYTES + i * ENTRY_BYTES;
            put(place, saved->entries[i].digest);
            put(place + 8, saved->entries[i].nanoseconds);
        }
        put(data + summed, checksum(data, summed));
    }
    if (bytes_needed) {
        *bytes_needed = needed;
    }
    return CL_SUCCESS;
}

/* Entries are added to those that the cache has; after a failure, it has none of them. */
static cl_int load(cl_ml_tuningcache_qcom handle, size_t bytes, const unsigned char *data) {
    const char *function = "clLoadMLTuningCacheQCOM";
    cache *into = clml_find(function, CLML_CACHE, handle);
    if (!into) {
        return CL_INVALID_VALUE;
    }
    if (!data || bytes < HEAD_BYTES + SUM_BYTES || memcmp(data, magic, sizeof magic)) {
        return clml_refuse(function, CL_INVALID_VALUE, "the data are no saved tuning cache");
    }
    size_t summed = bytes - SUM_BYTES;
    cl_ulong count = get(data + sizeof magic);
    if ((summed - HEAD_BYTES) % ENTRY_BYTES || count != (summed - HEAD_BYTES) / ENTRY_BYTES) {
        return clml_refuse(function, CL_INVALID_VALUE, "the saved tuning cache is cut short");
    }
    if (get(data + summed) != checksum(data, summed)) {
        return clml_refuse(function, CL_INVALID_VALUE, "the saved tuning cache is damaged");
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *place = data + HEAD_BYTES + i * ENTRY_BYTES;
        if (note(into, get(place), get(place + 8)) != CL_SUCCESS) {
            return clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
        }
    }
    clml_trace(function, "%lu entries", (unsigned long)count);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clml_tune_op(cl_command_queue queue, cl_ml_op_qcom op,
                                cl_ml_tensor_mem_desc_set_qcom set, cl_ml_tuningcache_qcom into,
                                cl_ulong *nanoseconds) {
    clml_lock();
    cl_int error = tune(queue, op, set, into, nanoseconds);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_save_cache(cl_ml_tuningcache_qcom saved, size_t bytes, unsigned char *data,
                                   size_t *bytes_needed) {
    clml_lock();
    cl_int error = save(saved, bytes, data, bytes_needed);
    clml_unlock();
    return error;
}

cl_int CL_API_CALL clml_load_cache(cl_ml_tuningcache_qcom into, size_t bytes,
                                   unsigned char *data) {
    clml_lock();
    cl_int error = load(into, bytes, data);
    clml_unlock();
    return error;
}
