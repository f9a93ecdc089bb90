/* The requests of a host, message by message. */
#include "clopt_runner.h"

#include <stdlib.h>
#include <string.h>

enum { HELLO, LOAD, WRITE, RUN, READ, REQUESTS };
enum { MOST_RUNS = 1 << 16 }; /* because their times are a single answer */

typedef struct session {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    runner_program program;
    clopt_model *model;
    void **tensors;
    char message[CLOPT_MESSAGE_BYTES];
} session;

/* Returns the first device whose name, or whose platform's name, contains `words`. */
static cl_device_id find_device(const char *words) {
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) {
        return NULL;
    }
    for (cl_uint i = 0; i < platform_count && i < 16; i++) {
        char name[256] = "";
        cl_device_id devices[16];
        cl_uint count = 0;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        int here = strstr(name, words) != NULL;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 16, devices, &count) != CL_SUCCESS) {
            continue;
        }
        for (cl_uint j = 0; j < count && j < 16; j++) {
            clGetDeviceInfo(devices[j], CL_DEVICE_NAME, sizeof name, name, NULL);
            if (here || strstr(name, words)) {
                return devices[j];
            }
        }
    }
    return NULL;
}

static clopt_status fail(session *s, clopt_status status, const char *sentence) {
    strncpy(s->message, sentence, sizeof s->message - 1);
    return status;
}

static clopt_status fail_by_model(session *s, clopt_status status) {
    return status == CLOPT_OK ? status : fail(s, status, clopt_message(s->model));
}

/* Answers the version of the messages, then the name, platform and driver of the device. */
static clopt_status hello(session *s, runner_message *request, runner_answer *answer) {
    (void)request;
    char *texts[3];
    texts[0] = clopt_device_text(s->device, CL_DEVICE_NAME);
    texts[1] = clopt_platform_text(s->device, CL_PLATFORM_NAME);
    texts[2] = clopt_device_text(s->device, CL_DRIVER_VERSION);
    runner_put_number(answer, RUNNER_VERSION);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        runner_put_text(answer, texts[i]);
        free(texts[i]);
    }
    return CLOPT_OK;
}

static void unload(session *s) {
    clopt_destroy(s->model);
    s->model = NULL;
    for (size_t i = 0; s->tensors && i < clopt_tensor_count(&s->program.info); i++) {
        free(s->tensors[i]);
    }
    free(s->tensors);
    s->tensors = NULL;
    runner_free_program(&s->program);
}

/* Allocates zeroed memory for every tensor and binds it. */
static clopt_status bind(session *s) {
    const clopt_info *info = &s->program.info;
    size_t count = clopt_tensor_count(info);
    s->tensors = calloc(count ? count : 1, sizeof *s->tensors);
    if (!s->tensors) {
        return fail(s, CLOPT_HOST_MEMORY, "There is not enough memory for tensors.");
    }
    for (size_t i = 0; i < count; i++) {
        size_t bytes = info->tensors[i].bytes;
        s->tensors[i] = calloc(bytes ? bytes : 1, 1);
        if (!s->tensors[i]) {
            return fail(s, CLOPT_HOST_MEMORY, "There is not enough memory for a tensor.");
        }
        clopt_status status = clopt_bind_host(s->model, i, s->tensors[i]);
        if (status != CLOPT_OK) {
            return fail_by_model(s, status);
        }
    }
    return CLOPT_OK;
}

/* Checks that the roots fit into the device's memory. Some drivers abort the process when the
 * memory, which may be the host's, is exhausted. */
static clopt_status check_memory(session *s) {
    const clopt_program *tables = &s->program.tables;
    cl_ulong room = 0;
    clGetDeviceInfo(s->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof room, &room, NULL);
    for (unsigned i = 0; i < tables->root_count; i++) {
        if (tables->roots[i].bytes > room) {
            return fail(s, CLOPT_DEVICE, "The device has less memory than the program needs.");
        }
        room -= tables->roots[i].bytes;
    }
    return CLOPT_OK;
}

/* Builds a program, which replaces the previous one. */
static clopt_status load(session *s, runner_message *request, runner_answer *answer) {
    (void)answer;
    unload(s);
    const char *wrong = runner_read_program(&s->program, request);
    if (wrong) {
        return fail(s, CLOPT_ARGUMENT, wrong);
    }
    clopt_status status = check_memory(s);
    if (status != CLOPT_OK) {
        return status;
    }
    clopt_options options;
    memset(&options, 0, sizeof options);
    options.context = s->context;
    options.device = s->device;
    options.queue = s->queue;
    options.weights = s->program.weights;
    options.weights_bytes = s->program.weights_bytes;
    status = clopt_create(&s->program.tables, &options, &s->model, s->message, sizeof s->message);
    return status == CLOPT_OK ? bind(s) : status;
}

/* Reads the number of a tensor and returns its memory, or NULL if there is none. */
static void *tensor(session *s, runner_message *request, size_t *bytes) {
    cl_ulong index = runner_number(request);
    if (!s->tensors || index >= clopt_tensor_count(&s->program.info)) {
        return NULL;
    }
    *bytes = s->program.info.tensors[index].bytes;
    return s->tensors[index];
}

/* Fills a tensor. */
static clopt_status write_tensor(session *s, runner_message *request, runner_answer *answer) {
    (void)answer;
    size_t bytes = 0, count;
    void *memory = tensor(s, request, &bytes);
    const unsigned char *data = runner_bytes(request, &count);
    if (!memory || !data || count != bytes) {
        return fail(s, CLOPT_ARGUMENT, "There is no tensor of this number and size.");
    }
    memcpy(memory, data, count);
    return CLOPT_OK;
}

/* Answers the bytes of a tensor. */
static clopt_status read_tensor(session *s, runner_message *request, runner_answer *answer) {
    size_t bytes = 0;
    const void *memory = tensor(s, request, &bytes);
    if (!memory) {
        return fail(s, CLOPT_ARGUMENT, "There is no tensor of this number.");
    }
    runner_put_bytes(answer, memory, bytes);
    return CLOPT_OK;
}

/* Runs the program several times; answers the nanoseconds of each command of each run. */
static clopt_status run(session *s, runner_message *request, runner_answer *answer) {
    cl_ulong runs = runner_number(request);
    size_t count = clopt_command_count(s->model);
    clopt_status status = CLOPT_OK;
    if (!s->tensors) {
        return fail(s, CLOPT_ARGUMENT, "There is no program to run.");
    }
    if (request->is_wrong || runs > MOST_RUNS) {
        return fail(s, CLOPT_ARGUMENT, "A request to run must ask for at most 65536 runs.");
    }
    clopt_timing *timings = calloc(count ? count : 1, sizeof *timings);
    if (!timings) {
        return fail(s, CLOPT_HOST_MEMORY, "There is not enough memory for times.");
    }
    for (cl_ulong i = 0; status == CLOPT_OK && i < runs; i++) {
        status = fail_by_model(s, clopt_profile(s->model, timings, count));
        for (size_t j = 0; status == CLOPT_OK && j < count; j++) {
            runner_put_number(answer, timings[j].nanoseconds);
        }
    }
    free(timings);
    return status;
}

typedef clopt_status (*handler)(session *, runner_message *, runner_answer *);

static const handler HANDLERS[REQUESTS] = {
    [HELLO] = hello, [LOAD] = load, [WRITE] = write_tensor, [RUN] = run, [READ] = read_tensor,
};

/* Answers with a status, followed by the requested data or an error message. */
static int answer_one(session *s, runner_message *request, int out) {
    runner_answer answer;
    memset(&answer, 0, sizeof answer);
    runner_put_number(&answer, CLOPT_OK);
    cl_ulong kind = runner_number(request);
    memset(s->message, 0, sizeof s->message);
    clopt_status status =
        !s->queue         ? fail(s, CLOPT_DEVICE, "There is no OpenCL device of this name.")
        : kind < REQUESTS ? HANDLERS[kind](s, request, &answer)
                          : fail(s, CLOPT_ARGUMENT, "The runner does not know this message.");
    if (status != CLOPT_OK) {
        answer.bytes = 0;
        runner_put_number(&answer, status);
        runner_put_text(&answer, s->message);
    }
    int is_sent = runner_send(out, &answer);
    free(answer.data);
    return is_sent;
}

void runner_serve(int in, int out, const char *words) {
    session s;
    runner_message request;
    int goes_on = 1;
    memset(&s, 0, sizeof s);
    s.device = find_device(words);
    if (s.device) {
        s.context = clCreateContext(NULL, 1, &s.device, NULL, NULL, NULL);
    }
    if (s.context) {
        s.queue = clCreateCommandQueue(s.context, s.device, 0, NULL);
    }
    while (goes_on) {
        goes_on = runner_receive(in, &request) && answer_one(&s, &request, out);
        free(request.data);
    }
    unload(&s);
    if (s.queue) {
        clReleaseCommandQueue(s.queue);
    }
    if (s.context) {
        clReleaseContext(s.context);
    }
}
