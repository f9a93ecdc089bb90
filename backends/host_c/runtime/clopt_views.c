/* Tests whether the device supports images over parts of buffers.
 *
 * Some devices do not have such images, others report them but give the image its own memory.
 * So the test paints an image, copies its bytes from one part of a buffer to another, and reads an
 * image over the copy. It does this twice, as the first texels may still be in a cache.
 */
#include "clopt_internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const KERNELS =
    "kernel void paint(write_only IMAGE image, float first) {\n"
    "    const int x = get_global_id(0);\n"
    "    const int y = get_global_id(1);\n"
    "    write_imagef(image, AT, (float4)(first + x, y, first, 1.0f));\n"
    "}\n"
    "kernel void scan(read_only IMAGE image, global float4 *texels) {\n"
    "    const int x = get_global_id(0);\n"
    "    const int y = get_global_id(1);\n"
    "    texels[y * get_global_size(0) + x] = read_imagef(image, AT);\n"
    "}\n";

enum { WIDTH = 5, HEIGHT = 3, TEXEL = 4 /* elements */ };

/* The objects of a test. */
typedef struct trial {
    clopt_image image;
    size_t pitch; /* 0 for an image1d_buffer */
    cl_mem buffer, parts[2], images[2], texels;
    cl_program program;
    cl_kernel paint, scan;
} trial;

static int make_memory(const clopt_model *model, trial *t) {
    size_t row = t->image.width * TEXEL * sizeof(cl_float); /* halves need less */
    size_t bytes = (t->pitch ? t->pitch : row) * t->image.height;
    size_t step = (bytes + model->base_alignment - 1) / model->base_alignment;
    cl_int error;
    t->buffer = clCreateBuffer(model->context, CL_MEM_READ_WRITE,
                               (1 + 2 * step) * model->base_alignment, NULL, &error);
    t->texels = clCreateBuffer(model->context, CL_MEM_READ_WRITE,
                               sizeof(cl_float) * TEXEL * WIDTH * HEIGHT, NULL, &error);
    if (!t->buffer || !t->texels) {
        return 0;
    }
    for (size_t i = 0; i < 2; i++) {
        cl_buffer_region region = {(1 + i * step) * model->base_alignment, bytes};
        t->parts[i] = clCreateSubBuffer(t->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                        &error);
        if (!t->parts[i]) {
            return 0;
        }
        t->images[i] = clopt_create_image(model, &t->image, t->pitch, CL_MEM_READ_WRITE,
                                          t->parts[i], NULL, &error);
        if (!t->images[i]) {
            return 0;
        }
    }
    return 1;
}

static int make_kernels(const clopt_model *model, trial *t) {
    const char *texts[2];
    cl_int error;
    texts[0] = t->image.kind == CLOPT_IMAGE_2D
                   ? "#define IMAGE image2d_t\n#define AT (int2)(x, y)\n"
                   : "#define IMAGE image1d_buffer_t\n#define AT x\n";
    texts[1] = KERNELS;
    t->program = clCreateProgramWithSource(model->context, 2, texts, NULL, &error);
    if (!t->program || clBuildProgram(t->program, 1, &model->device, "-cl-std=CL1.2", NULL,
                                      NULL) != CL_SUCCESS) {
        return 0;
    }
    t->paint = clCreateKernel(t->program, "paint", &error);
    t->scan = clCreateKernel(t->program, "scan", &error);
    return t->paint && t->scan &&
           !clSetKernelArg(t->paint, 0, sizeof *t->images, &t->images[0]) &&
           !clSetKernelArg(t->scan, 0, sizeof *t->images, &t->images[1]) &&
           !clSetKernelArg(t->scan, 1, sizeof t->texels, &t->texels);
}

/* One pass: from an image to its bytes, and from a copy of the bytes to an image over it. */
static int passes(const clopt_model *model, trial *t, cl_float first) {
    const size_t range[2] = {t->image.width, t->image.height};
    cl_float texels[HEIGHT * WIDTH][TEXEL];
    size_t bytes = 0;
    cl_command_queue queue = model->queue;
    memset(texels, 0, sizeof texels);
    if (clGetMemObjectInfo(t->parts[0], CL_MEM_SIZE, sizeof bytes, &bytes, NULL) ||
        clSetKernelArg(t->paint, 1, sizeof first, &first) ||
        clEnqueueNDRangeKernel(queue, t->paint, 2, NULL, range, NULL, 0, NULL, NULL) ||
        clEnqueueCopyBuffer(queue, t->parts[0], t->parts[1], 0, 0, bytes, 0, NULL, NULL) ||
        clEnqueueNDRangeKernel(queue, t->scan, 2, NULL, range, NULL, 0, NULL, NULL) ||
        clEnqueueReadBuffer(queue, t->texels, CL_TRUE, 0, sizeof *texels * range[0] * range[1],
                            texels, 0, NULL, NULL)) {
        return 0;
    }
    for (size_t i = 0; i < range[0] * range[1]; i++) {
        cl_float x = (cl_float)(i % range[0]), y = (cl_float)(i / range[0]);
        if (texels[i][0] != first + x || texels[i][1] != y || texels[i][2] != first ||
            texels[i][3] != 1.0f) {
            return 0;
        }
    }
    return 1;
}

static void release_trial(trial *t) {
    for (int i = 0; i < 2; i++) {
        if (t->images[i]) {
            clReleaseMemObject(t->images[i]);
        }
        if (t->parts[i]) {
            clReleaseMemObject(t->parts[i]);
        }
    }
    if (t->buffer) {
        clReleaseMemObject(t->buffer);
    }
    if (t->texels) {
        clReleaseMemObject(t->texels);
    }
    if (t->paint) {
        clReleaseKernel(t->paint);
    }
    if (t->scan) {
        clReleaseKernel(t->scan);
    }
    if (t->program) {
        clReleaseProgram(t->program);
    }
}

static int try_views(const clopt_model *model, clopt_image_kind kind, cl_channel_type channel) {
    trial t;
    memset(&t, 0, sizeof t);
    t.image.kind = kind;
    t.image.channel = channel;
    t.image.width = WIDTH;
    t.image.height = kind == CLOPT_IMAGE_2D ? HEIGHT : 1;
    t.image.layers = 1;
    if (kind == CLOPT_IMAGE_2D) {
        const size_t row = WIDTH * TEXEL * sizeof(cl_float), step = model->program->image_pitch;
        t.pitch = (row + step - 1) / step * step;
    }
    int works = make_memory(model, &t) && make_kernels(model, &t) && passes(model, &t, 1.0f) &&
                passes(model, &t, 20.0f);
    release_trial(&t);
    return works;
}

unsigned clopt_needed_views(const clopt_program *program) {
    unsigned needed = 0;
    for (unsigned i = 0; i < program->slot_count; i++) {
        needed |= program->slots[i].over_parts;
    }
    return needed;
}

/* Returns whether the model has views with this channel type. */
static int has_channel(const clopt_program *program, cl_channel_type channel) {
    for (unsigned i = 0; i < program->slot_count; i++) {
        const clopt_slot *slot = &program->slots[i];
        if (slot->over_parts && slot->image.kind != CLOPT_NO_IMAGE &&
            slot->image.channel == channel) {
            return 1;
        }
    }
    return 0;
}

unsigned clopt_working_views(const clopt_model *model) {
    const clopt_program *program = model->program;
    unsigned needed = clopt_needed_views(program), working = 0;
    int halves = has_channel(program, CL_HALF_FLOAT);
    char *extensions = clopt_device_text(model->device, CL_DEVICE_EXTENSIONS);
    int from_buffer =
        extensions && clopt_has_extension(extensions, "cl_khr_image2d_from_buffer");
    free(extensions);
    if (needed & CLOPT_VIEWS_1D && try_views(model, CLOPT_IMAGE_BUFFER, CL_FLOAT) &&
        (!halves || try_views(model, CLOPT_IMAGE_BUFFER, CL_HALF_FLOAT))) {
        working |= CLOPT_VIEWS_1D;
    }
    if (needed & CLOPT_VIEWS_2D && from_buffer && try_views(model, CLOPT_IMAGE_2D, CL_FLOAT) &&
        (!halves || try_views(model, CLOPT_IMAGE_2D, CL_HALF_FLOAT))) {
        working |= CLOPT_VIEWS_2D;
    }
    return working;
}
