/* Times inferences whose launches are replayed, and those that are put on the queue one by one.
 *
 * usage: replay PLATFORM WEIGHTS ROUNDS; the model is called net. It is created twice, and the two
 * take turns on one queue, on the same buffers. A line per inference: 0 or 1 for replayed, then
 * microseconds: until the call returned, until the queue was empty, of the processor. A first line
 * says whether launches are recorded.
 */
#define _POSIX_C_SOURCE 200809L
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 10, MOST_TENSORS = 64 };

static double microseconds(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static cl_device_id find_device(const char *wanted) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    cl_device_id found = NULL;
    clGetPlatformIDs(16, platforms, &count);
    for (cl_uint i = 0; i < count && i < 16 && !found; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, wanted) == 0) {
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &found, NULL);
        }
    }
    return found;
}

static void infer(net_model *model, cl_command_queue queue, int replayed, int is_told) {
    double cpu = microseconds(CLOCK_PROCESS_CPUTIME_ID), start = microseconds(CLOCK_MONOTONIC);
    if (net_enqueue(model, NULL) != CLOPT_OK) {
        fprintf(stderr, "%s\n", net_message(model));
        exit(1);
    }
    double returned = microseconds(CLOCK_MONOTONIC);
    clFinish(queue);
    double end = microseconds(CLOCK_MONOTONIC);
    if (is_told) {
        printf("%d %.1f %.1f %.1f\n", replayed, returned - start, end - start,
               microseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    }
}

int main(int count, char **words) {
    net_model *models[2];
    cl_mem buffers[MOST_TENSORS];
    char message[512];
    clopt_options options = {0};
    if (count != 4) {
        return 2;
    }
    options.device = find_device(words[1]);
    options.context = clCreateContext(NULL, 1, &options.device, NULL, NULL, NULL);
    options.queue = clCreateCommandQueue(options.context, options.device, 0, NULL);
    options.weights_path = words[2];
    for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
        buffers[i] = clCreateBuffer(options.context, CL_MEM_READ_WRITE, net_info.tensors[i].bytes,
                                    NULL, NULL);
    }
    for (int replayed = 0; replayed < 2; replayed++) {
        options.replay = replayed;
        if (net_create(&options, &models[replayed], message, sizeof message) != CLOPT_OK) {
            fprintf(stderr, "%s\n", message);
            return 1;
        }
        for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
            net_bind_buffer(models[replayed], i, buffers[i]);
        }
    }
    for (int i = 0; i < WARM_UP + atoi(words[3]); i++) {
        infer(models[i % 2], options.queue, i % 2, i >= WARM_UP);
        infer(models[1 - i % 2], options.queue, 1 - i % 2, i >= WARM_UP);
    }
    printf("%s\n", clopt_model_replay(models[1]) == CLOPT_NO_REPLAY ? "one by one" : "recorded");
    return 0;
}
