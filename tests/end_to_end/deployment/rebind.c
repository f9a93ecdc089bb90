/* Infers with new buffers and a new arena each time, without a wait: outputs are as those before.
 *
 * usage: rebind PLATFORM WEIGHTS REPLAY; the model is called net, with an input, an output and an
 * arena. Prints how many outputs differ, whether Qualcomm's recordings were replayed, and sums.
 */
#include "net.h"
#include "opencl.h"

enum { INPUT = 0, OUTPUT = 1, SETS = 3, ROUNDS = 12, MOST = 4096 };

static net_model *model;
static cl_mem inputs[SETS], outputs[SETS], arenas[2];
static float first[SETS][MOST], last[SETS][MOST];

static cl_mem new_buffer(size_t bytes, void *data) {
    cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);
    return clCreateBuffer(context, flags, bytes, data, NULL);
}

static void infer(int set, int arena) {
    CHECK(model, net_bind_buffer(model, INPUT, inputs[set]));
    CHECK(model, net_bind_buffer(model, OUTPUT, outputs[set]));
    CHECK(model, net_set_arena(model, &arenas[arena], 1));
    CHECK(model, net_enqueue(model, NULL));
}

static void read_outputs(float (*results)[MOST]) {
    for (int i = 0; i < SETS; i++) {
        clEnqueueReadBuffer(queue, outputs[i], CL_TRUE, 0, net_info.tensors[OUTPUT].bytes,
                            results[i], 0, NULL, NULL);
    }
}

static void make_buffers(void) {
    const clopt_tensor *tensors = net_info.tensors;
    static float data[MOST];
    for (int i = 0; i < SETS; i++) {
        for (size_t j = 0; j < tensors[INPUT].bytes / sizeof *data; j++) {
            data[j] = 0.01f * (float)((i + 1) * (int)(j % 37));
        }
        inputs[i] = new_buffer(tensors[INPUT].bytes, data);
        outputs[i] = new_buffer(tensors[OUTPUT].bytes, NULL);
    }
    for (int i = 0; i < 2; i++) {
        arenas[i] = new_buffer(net_arena_size(0), NULL);
    }
}

static void release_buffers(void) {
    for (int i = 0; i < SETS; i++) {
        clReleaseMemObject(inputs[i]);
        clReleaseMemObject(outputs[i]);
    }
    clReleaseMemObject(arenas[0]);
    clReleaseMemObject(arenas[1]);
}

static double sum(const float *values) {
    double result = 0;
    for (size_t i = 0; i < net_info.tensors[OUTPUT].bytes / sizeof *values; i++) {
        result += (double)values[i];
    }
    return result;
}

int main(int count, char **words) {
    int different = 0;
    if (count != 4) {
        return 2;
    }
    open_device(words[1]);
    clopt_options options = options_for(words[2]);
    options.replay = atoi(words[3]);
    char message[512];
    if (net_create(&options, &model, message, sizeof message) != CLOPT_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    make_buffers();
    for (int i = 0; i < SETS; i++) {
        infer(i, 0);
        clFinish(queue);
    }
    read_outputs(first);
    for (int i = 0; i < ROUNDS; i++) {
        infer(i % SETS, i % 2);
    }
    read_outputs(last);
    for (int i = 0; i < SETS; i++) {
        different += memcmp(first[i], last[i], net_info.tensors[OUTPUT].bytes) != 0;
    }
    printf("%d differ; %d; %g %g\n", different,
           clopt_model_replay(model) == CLOPT_RECORDABLE_QUEUE, sum(first[0]), sum(first[2]));
    net_destroy(model);
    release_buffers();
    close_device();
    return 0;
}
