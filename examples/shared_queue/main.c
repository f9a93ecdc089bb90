/* Reads handwritten digits on an OpenCL device, with kernels of its own around a network's.
 *
 * The application brings the context and the one in-order queue. For every drawing it puts three
 * things on that queue: its kernel that counts ink, the network, its kernel that picks the answer.
 * The host waits once, when it reads all answers.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, DRAWING = SIDE * SIDE, CELL = 4, MOST_DRAWINGS = 1000, MOST_PLATFORMS = 16 };

/* The network takes the share of ink in each cell of 4x4 pixels and returns ten logits. */
static const char *const KERNELS =
    "__kernel void count_ink(__global const uchar *drawings, int drawing, __global float *image)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    __global const uchar *cell = drawings + 1024 * drawing + 32 * 4 * y + 4 * x;\n"
    "    int ink = 0;\n"
    "    for (int row = 0; row < 4; row++)\n"
    "        for (int column = 0; column < 4; column++)\n"
    "            ink += cell[32 * row + column];\n"
    "    image[8 * y + x] = ink / 16.0f;\n"
    "}\n"
    "\n"
    "__kernel void pick(__global const float *logits, int drawing, __global int *answers)\n"
    "{\n"
    "    int best = 0;\n"
    "    for (int digit = 1; digit < 10; digit++)\n"
    "        best = logits[digit] > logits[best] ? digit : best;\n"
    "    answers[drawing] = best;\n"
    "}\n";

/* The objects of the application on the device; NULL until they are created. */
typedef struct application {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel count_ink, pick;
    cl_mem drawings, image, logits, answers;
    digits_model *model;
} application;

static int fail(const char *what, cl_int error) {
    fprintf(stderr, "shared_queue: %s failed (OpenCL error %d).\n", what, (int)error);
    return 0;
}

/* Reads drawings: a line with the digit, then rows of '.' and '#'. */
static int read_drawings(const char *path, cl_uchar *pixels, int *digits) {
    char line[SIDE + 3];
    int count = 0, row = SIDE;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "shared_queue: cannot open %s.\n", path);
        return 0;
    }
    while (fgets(line, sizeof line, file)) {
        if (row == SIDE) {
            if (count == MOST_DRAWINGS) {
                break;
            }
            digits[count++] = atoi(line);
            row = 0;
        } else {
            cl_uchar *target = pixels + DRAWING * (count - 1) + SIDE * row++;
            for (int i = 0; i < SIDE && line[i]; i++) {
                target[i] = line[i] == '#';
            }
        }
    }
    fclose(file);
    return count;
}

/* The first device of the first platform whose name contains `part`. */
static cl_device_id find_device(const char *part) {
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
    for (cl_uint i = 0; i < count && i < MOST_PLATFORMS; i++) {
        char name[256] = "";
        cl_device_id device = NULL;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, part) &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS) {
            return device;
        }
    }
    fprintf(stderr, "shared_queue: no OpenCL platform is called \"%s\".\n", part);
    return NULL;
}

static int make_kernels(application *app, cl_device_id device) {
    cl_int error;
    app->program =
        clCreateProgramWithSource(app->context, 1, (const char **)&KERNELS, NULL, &error);
    if (error != CL_SUCCESS) {
        return fail("clCreateProgramWithSource", error);
    }
    error = clBuildProgram(app->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (error != CL_SUCCESS) {
        return fail("clBuildProgram", error);
    }
    app->count_ink = clCreateKernel(app->program, "count_ink", &error);
    if (error == CL_SUCCESS) {
        app->pick = clCreateKernel(app->program, "pick", &error);
    }
    return error == CL_SUCCESS ? 1 : fail("clCreateKernel", error);
}

static int make_buffers(application *app, cl_uchar *pixels, int count) {
    cl_int errors[4];
    app->drawings = clCreateBuffer(app->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                   (size_t)DRAWING * (size_t)count, pixels, &errors[0]);
    app->image = clCreateBuffer(app->context, CL_MEM_READ_WRITE,
                                digits_info.tensors[DIGITS_INPUT_IMAGE].bytes, NULL, &errors[1]);
    app->logits = clCreateBuffer(app->context, CL_MEM_READ_WRITE,
                                 digits_info.tensors[DIGITS_OUTPUT_LOGITS].bytes, NULL, &errors[2]);
    app->answers = clCreateBuffer(app->context, CL_MEM_WRITE_ONLY,
                                  sizeof(cl_int) * (size_t)count, NULL, &errors[3]);
    for (int i = 0; i < 4; i++) {
        if (errors[i] != CL_SUCCESS) {
            return fail("clCreateBuffer", errors[i]);
        }
    }
    return 1;
}

/* The network runs on the application's queue, on buffers of the application's. */
static int make_model(application *app, cl_device_id device, const char *weights) {
    clopt_options options = {0};
    char message[512];
    options.context = app->context;
    options.device = device;
    options.queue = app->queue;
    options.weights_path = weights;
    if (digits_create(&options, &app->model, message, sizeof message) != CLOPT_OK) {
        fprintf(stderr, "shared_queue: %s\n", message);
        return 0;
    }
    if (digits_bind_buffer(app->model, DIGITS_INPUT_IMAGE, app->image) != CLOPT_OK ||
        digits_bind_buffer(app->model, DIGITS_OUTPUT_LOGITS, app->logits) != CLOPT_OK) {
        fprintf(stderr, "shared_queue: %s\n", digits_message(app->model));
        return 0;
    }
    return 1;
}

static int set_up(application *app, cl_device_id device, const char *weights, cl_uchar *pixels,
                  int count) {
    cl_int error;
    app->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error != CL_SUCCESS) {
        return fail("clCreateContext", error);
    }
    app->queue = clCreateCommandQueue(app->context, device, 0, &error);
    if (error != CL_SUCCESS) {
        return fail("clCreateCommandQueue", error);
    }
    return make_kernels(app, device) && make_buffers(app, pixels, count) &&
           make_model(app, device, weights);
}

/* Puts the reading of one drawing on the queue, and does not wait for it. */
static int enqueue_drawing(application *app, cl_int drawing) {
    const size_t cells[2] = {SIDE / CELL, SIDE / CELL}, one = 1;
    cl_int error = CL_SUCCESS;
    error |= clSetKernelArg(app->count_ink, 0, sizeof app->drawings, &app->drawings);
    error |= clSetKernelArg(app->count_ink, 1, sizeof drawing, &drawing);
    error |= clSetKernelArg(app->count_ink, 2, sizeof app->image, &app->image);
    error |= clEnqueueNDRangeKernel(app->queue, app->count_ink, 2, NULL, cells, NULL, 0, NULL,
                                    NULL);
    if (digits_enqueue(app->model, NULL) != CLOPT_OK) {
        fprintf(stderr, "shared_queue: %s\n", digits_message(app->model));
        return 0;
    }
    error |= clSetKernelArg(app->pick, 0, sizeof app->logits, &app->logits);
    error |= clSetKernelArg(app->pick, 1, sizeof drawing, &drawing);
    error |= clSetKernelArg(app->pick, 2, sizeof app->answers, &app->answers);
    error |= clEnqueueNDRangeKernel(app->queue, app->pick, 1, NULL, &one, NULL, 0, NULL, NULL);
    return error == CL_SUCCESS ? 1 : fail("enqueueing a kernel", error);
}

/* Reads all drawings, prints each answer; returns how many are right, -1 after a failure. */
static int read_digits(application *app, const int *digits, int count) {
    static cl_int answers[MOST_DRAWINGS];
    int right = 0;
    for (int i = 0; i < count; i++) {
        if (!enqueue_drawing(app, i)) {
            return -1;
        }
    }
    cl_int error = clEnqueueReadBuffer(app->queue, app->answers, CL_TRUE, 0,
                                       sizeof *answers * (size_t)count, answers, 0, NULL, NULL);
    if (error != CL_SUCCESS) {
        fail("clEnqueueReadBuffer", error);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        printf("%d%s", (int)answers[i], answers[i] == digits[i] ? " " : "? ");
        right += answers[i] == digits[i];
    }
    printf("\n%d of %d are right\n", right, count);
    return right;
}

static void tear_down(application *app) {
    cl_mem memories[] = {app->drawings, app->image, app->logits, app->answers};
    digits_destroy(app->model);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        if (memories[i]) {
            clReleaseMemObject(memories[i]);
        }
    }
    if (app->pick) {
        clReleaseKernel(app->pick);
    }
    if (app->count_ink) {
        clReleaseKernel(app->count_ink);
    }
    if (app->program) {
        clReleaseProgram(app->program);
    }
    if (app->queue) {
        clReleaseCommandQueue(app->queue);
    }
    if (app->context) {
        clReleaseContext(app->context);
    }
}

int main(int count, char **words) {
    static cl_uchar pixels[MOST_DRAWINGS * DRAWING];
    static int digits[MOST_DRAWINGS];
    application app = {0};
    int right = -1;
    if (count < 3) {
        fprintf(stderr, "usage: shared_queue DRAWINGS WEIGHTS [PLATFORM]\n");
        return 1;
    }
    int drawings = read_drawings(words[1], pixels, digits);
    cl_device_id device = drawings ? find_device(count > 3 ? words[3] : "") : NULL;
    if (device && set_up(&app, device, words[2], pixels, drawings)) {
        right = read_digits(&app, digits, drawings);
    }
    tear_down(&app);
    return right < 0;
}
