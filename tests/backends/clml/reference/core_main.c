/* Tests of the reference library's core: core PLATFORM SUBJECT... */
#define _POSIX_C_SOURCE 200112L /* nanosleep */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

cl_platform_id platform;
cl_device_id device;
cl_context context;
cl_command_queue queue;
CLMLInterfaceV5QCOM *clml;

static int faults;

void check(const char *file, int line, const char *what, int holds) {
    if (!holds) {
        faults++;
        fprintf(stderr, "%s:%d: not %s\n", file, line, what);
    }
}

void succeed(const char *file, int line, const char *what, cl_int error) {
    if (error != CL_SUCCESS) {
        faults++;
        fprintf(stderr, "%s:%d: %s: %d, \"%s\"\n", file, line, what, (int)error,
                clmlReferenceMessage());
    }
}

void refused(const char *file, int line, const char *what, cl_int error, const char *part) {
    if (error == CL_SUCCESS || !strstr(clmlReferenceMessage(), part)) {
        faults++;
        fprintf(stderr, "%s:%d: %s: %d, \"%s\", and not \"%s\"\n", file, line, what, (int)error,
                clmlReferenceMessage(), part);
    }
}

static void find_device(const char *wanted) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    clGetPlatformIDs(16, platforms, &count);
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!strcmp(name, wanted)) {
            platform = platforms[i];
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
        }
    }
}

static const struct {
    const char *name;
    void (*test)(void);
} subjects[] = {
    {"interface", test_interface}, {"tensors", test_tensors},       {"transfers", test_transfers},
    {"sets", test_sets},           {"events", test_events},         {"operations", test_operations},
    {"tuning", test_tuning},       {"threads", test_threads},       {"layer", test_layer},
    {"recordings", test_recordings},
};

/* Whether nobody else refers to the context; drivers release commands a little after their end. */
static int is_alone(cl_context released) {
    const struct timespec moment = {0, 10000000};
    cl_uint references = 0;
    for (int i = 0; i < 500 && references != 1; i++) {
        clGetContextInfo(released, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references,
                         NULL);
        if (references != 1) {
            nanosleep(&moment, NULL);
        }
    }
    return references == 1;
}

int main(int count, char **words) {
    find_device(count > 1 ? words[1] : "");
    if (!device) {
        fprintf(stderr, "there is no device of %s\n", words[1]);
        return 2;
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
    clml = clGetMLInterfaceV5QCOM(0); /* NULL where the environment says so */
    cl_ml_tensor_qcom stays = clml ? unused_tensor() : NULL; /* so that programs are built once */
    for (int i = 2; i < count; i++) {
        for (size_t j = 0; j < sizeof subjects / sizeof *subjects; j++) {
            if (!strcmp(words[i], subjects[j].name)) {
                subjects[j].test();
                clFinish(queue);
                CHECK(clmlReferenceLiveHandles() == (stays != NULL));
                printf("%s\n", words[i]);
            }
        }
    }
    if (stays) {
        DO(clml->clReleaseMLTensorQCOM(stays));
    }
    clReleaseCommandQueue(queue);
    CHECK(is_alone(context)); /* programs went with the last object */
    clReleaseContext(context);
    return faults != 0;
}
