/* Infers at several sizes with one model, from host memory and from buffers.
 *
 * usage: open_sizes PLATFORM WEIGHTS REPLAY INPUT OUTPUT SIZES...; the model is called net, with one
 * input. SIZES is the size of each dimension, "3,17". INPUT is a file of the input at each of them,
 * one after the other. Writes all outputs to OUTPUT: at each of them those in host memory, then
 * those in buffers. Prints the shapes, and what the model refuses.
 */
#include "net.h"
#include "opencl.h"

enum { INPUT = 0, MOST = 1 << 16 };

static net_model *model;
static unsigned char memory[NET_TENSOR_COUNT][MOST];
static cl_mem buffers[NET_TENSOR_COUNT];

static void set_sizes(const char *sizes) {
    for (size_t i = 0; i < net_info.dim_count; i++) {
        char *end;
        size_t size = strtoul(sizes, &end, 10);
        if (net_set_dim(model, net_info.dims[i].name, size) != CLOPT_OK) {
            printf("%s\n", net_message(model));
        }
        sizes = end + 1;
    }
    for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
        printf("%s", net_info.tensors[i].name);
        for (size_t j = 0; j < net_info.tensors[i].rank; j++) {
            printf(" %zu", net_shape(model, i)[j]);
        }
        printf(", %zu bytes\n", net_bytes(model, i));
    }
}

static void infer_on_host(void) {
    for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
        CHECK(model, net_bind_host(model, i, memory[i]));
    }
    CHECK(model, net_enqueue(model, NULL));
    clFinish(queue);
}

static void infer_in_buffers(void) {
    clEnqueueWriteBuffer(queue, buffers[INPUT], CL_TRUE, 0, net_bytes(model, INPUT), memory[INPUT],
                         0, NULL, NULL);
    for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
        CHECK(model, net_bind_buffer(model, i, buffers[i]));
    }
    CHECK(model, net_enqueue(model, NULL));
    for (size_t i = NET_INPUT_COUNT; i < NET_TENSOR_COUNT; i++) {
        clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, net_bytes(model, i), memory[i], 0, NULL,
                            NULL);
    }
}

static void write_outputs(FILE *file) {
    for (size_t i = NET_INPUT_COUNT; i < NET_TENSOR_COUNT; i++) {
        fwrite(memory[i], 1, net_bytes(model, i), file);
        memset(memory[i], 0xff, sizeof memory[i]);
    }
}

int main(int count, char **words) {
    if (count < 6) {
        return 2;
    }
    open_device(words[1]);
    clopt_options options = options_for(words[2]);
    options.replay = atoi(words[3]);
    FILE *input = fopen(words[4], "rb"), *output = fopen(words[5], "wb");
    char message[512];
    if (!input || !output ||
        net_create(&options, &model, message, sizeof message) != CLOPT_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, net_info.tensors[i].bytes, NULL,
                                    NULL);
    }
    for (int i = 6; i < count; i++) {
        set_sizes(words[i]);
        if (fread(memory[INPUT], 1, net_bytes(model, INPUT), input) != net_bytes(model, INPUT)) {
            return 3;
        }
        infer_on_host();
        write_outputs(output);
        infer_in_buffers();
        write_outputs(output);
    }
    if (net_set_dim(model, "colour", 1) != CLOPT_OK) {
        printf("%s\n", net_message(model));
    }
    net_destroy(model);
    for (size_t i = 0; i < NET_TENSOR_COUNT; i++) {
        clReleaseMemObject(buffers[i]);
    }
    close_device();
    fclose(input);
    return fclose(output);
}
