/* Uses a model on the fake OpenCL: every call fails once, and each time the model recovers.
 *
 * usage: failures FOLDER EXTENSIONS VIEWS_WORK RECORDABLE CLML_PADDING [tell]; the model is called
 * net, with one input, one output that has elements, and one arena or none. For each n, the n-th
 * call of a run through the interface fails. The step in which it fails returns an error with a
 * sentence, or does without the call; an inference afterwards uses no released object; the step
 * succeeds when it is repeated. A padding below zero is that of row-major tensors, too. With "tell",
 * prints what each run, the first without a failure, puts on the queue.
 */
#include "fake_opencl.h"
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT = 0, OUTPUT = 1, MOST = 1 << 20 };

static cl_context context;
static cl_command_queue queue, other_queue;
static net_model *model;
static clopt_options options;
static char weights[1024], binaries[1024], tuning[1024], message[512];
static unsigned char memory[2][MOST];
static int is_telling, wrong;

/* Buffers belong to the model alone, once it has them. */
static cl_mem new_buffer(size_t bytes) {
    return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
}

/* A model that takes its second plan says why. */
static clopt_status create(void) {
    clopt_status status = net_create(&options, &model, message, sizeof message);
    const char *reason = NULL;
    if (status == CLOPT_OK) {
        net_plan(model, &reason);
    }
    if (reason && !strchr(reason, ' ')) {
        wrong++;
        fprintf(stderr, "no sentence about the plan\n");
    }
    return status;
}

static clopt_status bind_hosts(void) {
    clopt_status status = net_bind_host(model, INPUT, memory[INPUT]);
    return status ? status : net_bind_host(model, OUTPUT, memory[OUTPUT]);
}

static clopt_status bind_buffer(size_t index) {
    cl_mem buffer = new_buffer(net_info.tensors[index].bytes);
    clopt_status status = buffer ? net_bind_buffer(model, index, buffer) : CLOPT_OK;
    if (buffer) {
        clReleaseMemObject(buffer);
    }
    return status;
}

static clopt_status bind_input(void) {
    return bind_buffer(INPUT);
}

static clopt_status bind_output(void) {
    return bind_buffer(OUTPUT);
}

static clopt_status set_arena(void) {
    cl_mem arena = net_arena_count() ? new_buffer(net_arena_size(0)) : NULL;
    clopt_status status = arena ? net_set_arena(model, &arena, 1) : CLOPT_OK;
    if (arena) {
        clReleaseMemObject(arena);
    }
    return status;
}

static clopt_status own_arena(void) {
    return net_set_arena(model, NULL, 0);
}

static clopt_status set_dim(void) {
    const clopt_dim *dim = net_info.dims;
    return dim ? net_set_dim(model, dim->name, dim->least) : CLOPT_OK;
}

static clopt_status set_queue(void) {
    return clopt_set_queue((clopt_model *)model, other_queue);
}

static clopt_status enqueue(void) {
    cl_event done = NULL;
    clopt_status status = net_enqueue(model, &done);
    if ((status == CLOPT_OK) != (done != NULL)) {
        wrong++;
        fprintf(stderr, "an event of a failed inference, or none\n");
    }
    if (done) {
        clReleaseEvent(done);
    }
    if (is_telling) {
        printf("%s\n", fake_commands());
    }
    return status;
}

static clopt_status save(void) {
    return net_save_binaries(model, binaries);
}

static clopt_status tune(void) {
    clopt_status status =
        clopt_model_offload(model).library ? clopt_tune(model, tuning) : CLOPT_OK;
    fake_commands();
    return status;
}

static clopt_status profile(void) {
    clopt_timing timings[16];
    clopt_status status = clopt_profile(model, timings, sizeof timings / sizeof *timings);
    fake_commands();
    for (size_t i = 0; status == CLOPT_OK && i < clopt_command_count(model); i++) {
        if (timings[i].start != 100 || timings[i].nanoseconds != 7 || !*timings[i].name ||
            !*timings[i].kind) {
            wrong++;
            fprintf(stderr, "a wrong time of a command\n");
        }
    }
    return status;
}

static clopt_status (*const steps[])(void) = {
    create,     save,      bind_hosts, enqueue, enqueue,    bind_input, enqueue,   bind_output,
    set_arena,  set_dim,   enqueue,    bind_hosts, own_arena, enqueue, set_arena, profile,
    tune,       enqueue,   set_queue,  enqueue,
};

enum { STEPS = sizeof steps / sizeof *steps };

/* A step that fails says why, harms nothing, and succeeds the next time. */
static void take(int step) {
    message[0] = '\0';
    clopt_status status = steps[step]();
    if (status == CLOPT_OK) {
        return;
    }
    const char *sentence = model ? net_message(model) : message;
    if (!strchr(sentence, ' ')) {
        wrong++;
        fprintf(stderr, "step %d: no sentence\n", step);
    }
    if (model) {
        net_enqueue(model, NULL);
    }
    status = steps[step]();
    if (status != CLOPT_OK) {
        wrong++;
        fprintf(stderr, "step %d: fails again: %s\n", step, sentence);
    }
}

/* Returns whether the call that has to fail was reached. */
static int run(long failing) {
    context = fake_create_context();
    queue = fake_create_queue();
    other_queue = fake_create_queue();
    if (is_telling) {
        printf("call %ld\n", failing);
    }
    options.context = context;
    options.queue = queue;
    fake_fail(failing);
    for (int i = 0; i < STEPS && (i == 0 || model); i++) {
        take(i);
    }
    if (is_telling && model) {
        const char *reason = NULL;
        const char *plan = net_plan(model, &reason);
        printf("plan: %s. %s\n", plan, reason ? reason : "");
    }
    net_destroy(model);
    model = NULL;
    int reached = fake_calls() >= failing;
    int leaked = fake_end(3);
    if (leaked) {
        wrong++;
        fprintf(stderr, "call %ld fails: %d references too many\n", failing, leaked);
    }
    return reached;
}

int main(int count, char **words) {
    long failing = 1;
    if (count < 6) {
        return 2;
    }
    snprintf(weights, sizeof weights, "%s/weights.bin", words[1]);
    snprintf(binaries, sizeof binaries, "%s/kernels.bin", words[1]);
    snprintf(tuning, sizeof tuning, "%s/tuning.bin", words[1]);
    fake.extensions = words[2];
    fake.views_work = atoi(words[3]);
    fake.recordable_launches = (cl_uint)atoi(words[4]);
    options.device = fake_device_id();
    options.weights_path = weights;
    options.binaries_path = binaries;
    options.tuning_path = tuning;
    options.replay = 1;
    fake.clml_padding = (size_t)abs(atoi(words[5]));
    fake.clml_pads_rows = atoi(words[5]) < 0;
    is_telling = count > 6;
    run(0);
    while (run(failing)) {
        failing++;
    }
    fprintf(stderr, "%ld calls\n", failing - 1);
    return wrong || fake_faults;
}
