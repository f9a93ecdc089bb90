/* Tuning caches: times, saving, loading, and data that are damaged anywhere. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static cl_int load(const unsigned char *data, size_t bytes, cl_ml_tuningcache_qcom cache) {
    unsigned char *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, data, bytes);
    cl_int error = clml->clLoadMLTuningCacheQCOM(cache, bytes, copy);
    free(copy);
    return error;
}

static size_t bytes_of(cl_ml_tuningcache_qcom cache) {
    size_t bytes = 0;
    DO(clml->clSaveMLTuningCacheQCOM(cache, 0, NULL, &bytes));
    return bytes;
}

static void test_damage(const unsigned char *data, size_t bytes) {
    cl_ml_tuningcache_qcom cache;
    unsigned char damaged[256];
    DO(clml->clCreateMLTuningCacheQCOM(&cache));
    const size_t empty = bytes_of(cache);
    for (size_t i = 0; i < bytes; i++) {
        memcpy(damaged, data, bytes);
        damaged[i] ^= 0x40;
        CHECK(load(damaged, bytes, cache) != CL_SUCCESS);
        CHECK(load(data, i, cache) != CL_SUCCESS);
    }
    memcpy(damaged, data, bytes);
    damaged[bytes] = 0;
    REFUSED(load(damaged, bytes + 1, cache), "cut short");
    damaged[20] ^= 1;
    REFUSED(load(damaged, bytes, cache), "is damaged");
    REFUSED(load(data, 10, cache), "no saved tuning cache");
    REFUSED(clml->clLoadMLTuningCacheQCOM(cache, bytes, NULL), "no saved tuning cache");
    CHECK(bytes_of(cache) == empty);
    DO(load(data, bytes, cache));
    CHECK(bytes_of(cache) == bytes);
    DO(clml->clReleaseMLTuningCacheQCOM(cache));
}

void test_tuning(void) {
    addition one = make_addition(CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 4);
    addition two = make_addition(CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 9);
    cl_command_queue plain = clCreateCommandQueue(context, device, 0, NULL);
    cl_ml_tuningcache_qcom cache, other;
    cl_ulong taken = 0;
    unsigned char data[256], again[256];
    DO(clml->clCreateMLTuningCacheQCOM(&cache));
    REFUSED(clml->clCreateMLTuningCacheQCOM(NULL), "NULL");
#define TUNE(on, sum, time) clml->clTuneMLOpQCOM(on, (sum).op, (sum).set, cache, time)
    REFUSED(TUNE(queue, one, &taken), "has no data");
    write_addition(&one, queue, 3, 4);
    write_addition(&two, queue, 3, 4);
    REFUSED(TUNE(plain, one, &taken), "CL_QUEUE_PROFILING_ENABLE");
    REFUSED(clml->clTuneMLOpQCOM(queue, one.op, one.set, NULL, NULL), "the tuning cache is NULL");
    DO(TUNE(queue, one, &taken));
    CHECK(taken > 0);
    CHECK(is_addition(&one, queue, 4, 7)); /* it really ran */
    const size_t first = bytes_of(cache);
    DO(TUNE(queue, one, NULL));
    CHECK(bytes_of(cache) == first);
    DO(TUNE(queue, two, NULL));
    const size_t bytes = bytes_of(cache);
    CHECK(bytes > first && bytes < sizeof data);
    REFUSED(clml->clSaveMLTuningCacheQCOM(cache, bytes - 1, data, NULL), "are too few");
    REFUSED(clml->clSaveMLTuningCacheQCOM(cache, 0, NULL, NULL), "no place");
    DO(clml->clSaveMLTuningCacheQCOM(cache, bytes, data, NULL));
    test_damage(data, bytes);
    DO(clml->clCreateMLTuningCacheQCOM(&other));
    DO(load(data, bytes, other));
    DO(load(data, bytes, other));
    DO(clml->clSaveMLTuningCacheQCOM(other, bytes, again, NULL));
    CHECK(!memcmp(data, again, bytes));
    DO(clml->clReleaseMLTuningCacheQCOM(other));
    DO(clml->clReleaseMLTuningCacheQCOM(cache));
    REFUSED(clml->clReleaseMLTuningCacheQCOM(cache), "the tuning cache was released");
    REFUSED(TUNE(queue, one, NULL), "the tuning cache was released");
    clReleaseCommandQueue(plain);
    release_addition(&one);
    release_addition(&two);
}
