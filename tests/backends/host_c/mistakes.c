/* Makes every mistake that the runtime answers with an error, and prints the answers.
 *
 * usage: mistakes PLATFORM FOLDER; the model is y = 2 * (x + w) on four floats. FOLDER has its
 * weights.bin and damaged copies of that.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "clopt_internal.h"
#include "small.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PART 4096 /* bytes at a multiple of which every device has parts of buffers */

static cl_device_id device;
static cl_context context, other_context;
static cl_command_queue queue, unordered;
static const char *folder;

static cl_device_id find_device(const char *platform) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    cl_device_id found = NULL;
    clGetPlatformIDs(16, platforms, &count);
    for (cl_uint i = 0; i < count && !found; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, platform) == 0) {
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &found, NULL);
        }
    }
    return found;
}

static void say(const char *what, clopt_status status, const char *message) {
    printf("%s | %s | %s\n", what, clopt_status_name(status), message);
}

static clopt_options good_options(void) {
    static char path[1024];
    clopt_options options = {0};
    snprintf(path, sizeof path, "%s/weights.bin", folder);
    options.context = context;
    options.device = device;
    options.queue = queue;
    options.weights_path = path;
    return options;
}

/* Says why no model is made of `options`. */
static void refuse(const char *what, const clopt_options *options) {
    char message[512];
    small_model *model;
    clopt_status status = small_create(options, &model, message, sizeof message);
    say(what, status, message);
    small_destroy(model);
}

static void refuse_weights(const char *name) {
    char path[1024];
    clopt_options options = good_options();
    snprintf(path, sizeof path, "%s/%s", folder, name);
    options.weights_path = path;
    refuse(name, &options);
}

static void creation(void) {
    small_model *model;
    clopt_options options = {0};
    cl_mem tiny = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, NULL);
    cl_mem foreign =
        clCreateBuffer(other_context, CL_MEM_READ_WRITE, small_arena_size(0), NULL, NULL);
    cl_mem constant =
        clCreateBuffer(context, CL_MEM_READ_ONLY, small_arena_size(0), NULL, NULL);
    say("null options", small_create(NULL, &model, NULL, 0), "");
    say("null model", small_create(&options, NULL, NULL, 0), "");
    refuse("empty options", &options);
    options = good_options();
    options.weights_path = NULL;
    refuse("no weights", &options);
    options = good_options();
    options.queue = unordered;
    refuse("unordered queue", &options);
    options = good_options();
    options.context = other_context;
    refuse("foreign context", &options);
    options = good_options();
    options.arenas = &tiny;
    options.arena_count = 2;
    refuse("two arenas", &options);
    options.arena_count = 1;
    refuse("tiny arena", &options);
    options.arenas = &foreign;
    refuse("foreign arena", &options);
    options.arenas = &constant;
    refuse("read-only arena", &options);
    clReleaseMemObject(constant);
    clReleaseMemObject(tiny);
    clReleaseMemObject(foreign);
    refuse_weights("absent.bin");
    refuse_weights("empty.bin");
    refuse_weights("short.bin");
    refuse_weights("long.bin");
    refuse_weights("damaged.bin");
    refuse_weights("another.bin");
    refuse_weights("text.bin");
}

static void use(small_model *model) {
    cl_float x[4] = {1, 2, 3, 4};
    cl_mem tiny = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, NULL);
    cl_mem foreign = clCreateBuffer(other_context, CL_MEM_READ_WRITE, 16, NULL, NULL);
    say("unbound input", small_enqueue(model, NULL), small_message(model));
    cl_buffer_region first = {0, 16}, second = {PART, 16};
    cl_mem constant = clCreateBuffer(context, CL_MEM_READ_ONLY, 16, NULL, NULL);
    cl_mem sink = clCreateBuffer(context, CL_MEM_WRITE_ONLY, 16, NULL, NULL);
    cl_mem both = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * PART, NULL, NULL);
    cl_mem half = clCreateSubBuffer(both, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, NULL);
    cl_mem other_half = clCreateSubBuffer(both, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, NULL);
    say("null host", small_bind_host(model, SMALL_INPUT_X, NULL), small_message(model));
    small_bind_host(model, SMALL_INPUT_X, x);
    say("unbound output", small_enqueue(model, NULL), small_message(model));
    say("null buffer", small_bind_buffer(model, SMALL_OUTPUT_Y, NULL), small_message(model));
    say("tiny buffer", small_bind_buffer(model, SMALL_OUTPUT_Y, tiny), small_message(model));
    say("foreign buffer", small_bind_buffer(model, SMALL_OUTPUT_Y, foreign), small_message(model));
    say("read-only output", small_bind_buffer(model, SMALL_OUTPUT_Y, constant),
        small_message(model));
    say("write-only input", small_bind_buffer(model, SMALL_INPUT_X, sink), small_message(model));
    small_bind_buffer(model, SMALL_INPUT_X, half);
    small_bind_buffer(model, SMALL_OUTPUT_Y, both);
    say("shared output", small_enqueue(model, NULL), small_message(model));
    small_bind_buffer(model, SMALL_OUTPUT_Y, other_half);
    say("two halves", small_enqueue(model, NULL), "");
    small_bind_buffer(model, SMALL_OUTPUT_Y, both);
    say("shared output later", small_enqueue(model, NULL), small_message(model));
    small_bind_buffer(model, SMALL_OUTPUT_Y, other_half);
    clFinish(queue);
    say("wrong index", small_bind_host(model, 2, x), small_message(model));
    say("tiny new arena", small_set_arena(model, &tiny, 1), small_message(model));
    say("null queue", clopt_set_queue(model, NULL), small_message(model));
    say("unordered new queue", clopt_set_queue(model, unordered), small_message(model));
    say("unwritable", small_save_binaries(model, "/nowhere/at/all"), small_message(model));
    const cl_mem mine[] = {tiny, foreign, constant, sink, half, other_half, both};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        clReleaseMemObject(mine[i]);
    }
}

static void null_handles(void) {
    cl_float x[4] = {0};
    small_destroy(NULL);
    say("null bind_host", small_bind_host(NULL, 0, x), small_message(NULL));
    say("null bind_buffer", small_bind_buffer(NULL, 0, NULL), small_message(NULL));
    say("null enqueue", small_enqueue(NULL, NULL), small_message(NULL));
    say("null set_arena", small_set_arena(NULL, NULL, 0), small_message(NULL));
    say("null set_queue", clopt_set_queue(NULL, queue), small_message(NULL));
    say("null save", small_save_binaries(NULL, "x"), small_message(NULL));
    printf("%d %d\n", clopt_model_info(NULL) == NULL, clopt_find_tensor(NULL, "x"));
}

/* After all of the mistakes the model still computes. */
static void compute(small_model *model, const char *what) {
    cl_float x[4] = {1, 2, 3, 4}, y[4] = {0};
    cl_event done = NULL;
    small_bind_host(model, SMALL_INPUT_X, x);
    small_bind_host(model, SMALL_OUTPUT_Y, y);
    say(what, small_enqueue(model, &done), "");
    clWaitForEvents(1, &done);
    clReleaseEvent(done);
    printf("%g %g %g %g\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
}

/* Changes the byte of a file with binaries that is `at` bytes behind its start, or before its end;
 * the checksum is that of the changed file, or of the one before. */
static void change(const char *path, long at, int is_checked) {
    enum { MOST = 1 << 20, CHECKED = 16 };
    static unsigned char content[MOST];
    FILE *stream = fopen(path, "r+b");
    size_t bytes = fread(content, 1, sizeof content, stream);
    content[at < 0 ? (long)bytes + at : at] ^= 1;
    if (is_checked) {
        clopt_write_u32(content + 8, clopt_crc32(content + CHECKED, bytes - CHECKED));
    }
    rewind(stream);
    fwrite(content, 1, bytes, stream);
    fclose(stream);
}

static void load(const char *path) {
    char message[512];
    small_model *again;
    clopt_options options = good_options();
    options.binaries_path = path;
    say("load", small_create(&options, &again, message, sizeof message), message);
    printf("from binaries: %d\n", clopt_model_used_binaries(again));
    compute(again, "with binaries");
    small_destroy(again);
}

/* Binaries are written, taken, and not taken where they are damaged or of another model, device or
 * driver: the key begins with the model's digest, and the platform's name follows. */
static void binaries(small_model *model) {
    const struct {
        long at;
        int is_checked;
    } changes[] = {{-1, 0}, {16, 1}, {16 + CLOPT_DIGEST_BYTES, 1}};
    char path[1024];
    snprintf(path, sizeof path, "%s/kernels.bin", folder);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        say("save", small_save_binaries(model, path), "");
        load(path);
        change(path, changes[i].at, changes[i].is_checked);
        load(path);
    }
}

/* How many objects hold the context and the queue: every object of OpenCL holds its context. */
static cl_uint references(void) {
    cl_uint of_context = 0, of_queue = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof of_context, &of_context, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof of_queue, &of_queue, NULL);
    return of_context + of_queue;
}

int main(int count, char **words) {
    char message[512] = "";
    small_model *model;
    clopt_options options;
    if (count != 3 || !(device = find_device(words[1]))) {
        return 2;
    }
    folder = words[2];
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    other_context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    unordered =
        clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    const cl_uint before = references();
    creation();
    null_handles();
    options = good_options();
    say("good", small_create(&options, &model, message, sizeof message), message);
    printf("%d %d\n", clopt_find_tensor(clopt_model_info(model), "y"),
           clopt_find_tensor(&small_info, "z"));
    use(model);
    compute(model, "after mistakes");
    binaries(model);
    small_destroy(model);
    clFinish(queue);
    for (int i = 0; i < 500 && references() != before; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* threads of the driver's end */
    }
    printf("references: %d more\n", (int)(references() - before));
    clReleaseCommandQueue(queue);
    clReleaseCommandQueue(unordered);
    clReleaseContext(context);
    clReleaseContext(other_context);
    return 0;
}
