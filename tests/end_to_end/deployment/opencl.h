/* The parts of OpenCL that every program of these tests needs. */
#ifndef OPENCL_H
#define OPENCL_H

#include "clopt_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where a model's function fails. */
#define CHECK(model, call)                                                                         \
    do {                                                                                           \
        if ((call) != CLOPT_OK) {                                                                  \
            fprintf(stderr, "%s: %s\n", #call, clopt_message(model));                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

/* Opens the first device of a platform. */
static void open_device(const char *platform) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    clGetPlatformIDs(16, platforms, &count);
    for (cl_uint i = 0; i < count && i < 16 && !device; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, platform) == 0) {
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
        }
    }
    if (!device) {
        fprintf(stderr, "there is no platform %s\n", platform);
        exit(1);
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
}

static void close_device(void) {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static clopt_options options_for(const char *weights) {
    clopt_options options = {0};
    options.context = context;
    options.device = device;
    options.queue = queue;
    options.weights_path = weights;
    return options;
}

#endif
