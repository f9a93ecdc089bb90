/* Two models on one queue and in one arena, interleaved without a wait.
 *
 * usage: two_models PLATFORM WEIGHTS_A WEIGHTS_B ROUNDS; the models are called first and second,
 * each with one input of floats and one output. Every inference has an input and an output of its
 * own. Prints how many outputs of the interleaved inferences differ from those of each model alone.
 */
#include "first.h"
#include "second.h"

#include "opencl.h"

enum { INPUT = 0, OUTPUT = 1 };

/* A model with the inputs and outputs of all rounds. */
typedef struct user {
    clopt_model *model;
    const clopt_info *info;
    unsigned char *inputs, *alone, *together;
} user;

static int rounds;

static unsigned char *allocate(const user *u, size_t index) {
    return calloc((size_t)rounds, u->info->tensors[index].bytes);
}

static void set_up(user *u, clopt_model *model) {
    u->model = model;
    u->info = clopt_model_info(model);
    u->inputs = allocate(u, INPUT);
    u->alone = allocate(u, OUTPUT);
    u->together = allocate(u, OUTPUT);
    size_t count = (size_t)rounds * u->info->tensors[INPUT].bytes / sizeof(float);
    for (size_t i = 0; i < count; i++) {
        float value = (float)(i * 7919 % 1009) / 500.0f - 1.0f;
        memcpy(u->inputs + i * sizeof value, &value, sizeof value);
    }
}

static void enqueue(user *u, unsigned char *outputs, int round) {
    const clopt_tensor *tensors = u->info->tensors;
    CHECK(u->model,
          clopt_bind_host(u->model, INPUT, u->inputs + (size_t)round * tensors[INPUT].bytes));
    CHECK(u->model,
          clopt_bind_host(u->model, OUTPUT, outputs + (size_t)round * tensors[OUTPUT].bytes));
    CHECK(u->model, clopt_enqueue(u->model, NULL));
}

static int differences(const user *u) {
    size_t bytes = u->info->tensors[OUTPUT].bytes;
    int found = 0;
    for (int i = 0; i < rounds; i++) {
        size_t at = (size_t)i * bytes;
        found += memcmp(u->alone + at, u->together + at, bytes) != 0;
    }
    return found;
}

static void tear_down(user *u) {
    clopt_destroy(u->model);
    free(u->inputs);
    free(u->alone);
    free(u->together);
}

/* All inferences of each model in its own arena, then both in turn in a shared one. */
static void run(user *users) {
    size_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        for (int round = 0; round < rounds; round++) {
            enqueue(&users[i], users[i].alone, round);
        }
        clFinish(queue);
        bytes = users[i].info->arena_sizes[0] > bytes ? users[i].info->arena_sizes[0] : bytes;
    }
    cl_mem arena = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        CHECK(users[i].model, clopt_set_arena(users[i].model, &arena, 1));
    }
    clReleaseMemObject(arena);
    for (int round = 0; round < rounds; round++) {
        enqueue(&users[0], users[0].together, round);
        enqueue(&users[1], users[1].together, round);
    }
    clFinish(queue);
}

int main(int count, char **words) {
    user users[2];
    clopt_model *first, *second;
    char message[512];
    if (count != 5) {
        return 2;
    }
    open_device(words[1]);
    rounds = atoi(words[4]);
    clopt_options options[2] = {options_for(words[2]), options_for(words[3])};
    if (first_create(&options[0], &first, message, sizeof message) != CLOPT_OK ||
        second_create(&options[1], &second, message, sizeof message) != CLOPT_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    set_up(&users[0], first);
    set_up(&users[1], second);
    run(users);
    float value;
    memcpy(&value, users[0].alone, sizeof value);
    printf("%d %d differ; arenas %zu %zu; first value %g\n", differences(&users[0]),
           differences(&users[1]), first_arena_size(0), second_arena_size(0), (double)value);
    tear_down(&users[0]);
    tear_down(&users[1]);
    close_device();
    return 0;
}
