/* Infers again and again, and prints how much memory the process has then and when.
 *
 * usage: soak PLATFORM WEIGHTS INFERENCES REBIND REPLAY; with REBIND not 0 the tensors are bound to
 * host memory and to buffers in turn, with REPLAY not 0 launches are recorded where the device can
 * do so. A line is "inferences resident allocated handles": bytes, bytes, and live handles of CLML;
 * four of them: after a tenth of the inferences, then evenly on. The model is called net.
 */
#define _POSIX_C_SOURCE 200809L
#include "net.h"
#include "opencl.h"

#include <malloc.h>
#include <unistd.h>

enum { INPUT = 0, OUTPUT = 1, SAMPLES = 4 };

static net_model *model;
static float *hosts[2];
static cl_mem buffers[2];

/* Bytes of the process that are in memory. */
static long resident(void) {
    long all = 0, pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (!stream || fscanf(stream, "%ld %ld", &all, &pages) != 2) {
        exit(1);
    }
    fclose(stream);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Bytes that malloc gave and free did not take back, by whatever part of the process. */
static size_t allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Live handles of the reference library for CLML, where that is a layer; else 0. */
static unsigned handles(void) {
    static const char name[] = "clmlReferenceLiveHandles";
    cl_uint(CL_API_CALL * count)(void);
    cl_platform_id platform = NULL;
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    *(void **)&count = clGetExtensionFunctionAddressForPlatform(platform, name);
    return count ? count() : 0;
}

static void bind(int to_buffers) {
    for (size_t i = INPUT; i <= OUTPUT; i++) {
        CHECK(model, to_buffers ? net_bind_buffer(model, i, buffers[i])
                                : net_bind_host(model, i, hosts[i]));
    }
}

/* The driver may put off what it does until it is waited for: not longer than 16 inferences. */
static void infer(int from, int to, int rebind) {
    for (int i = from; i < to; i++) {
        if (rebind && i % 4 == 0) {
            bind(i % 8 == 0);
        }
        CHECK(model, net_enqueue(model, NULL));
        if (i % 16 == 15) {
            clFinish(queue);
        }
    }
    clFinish(queue);
}

int main(int count, char **words) {
    if (count != 6) {
        return 2;
    }
    int inferences = atoi(words[3]), rebind = atoi(words[4]), warm = inferences / 10;
    open_device(words[1]);
    clopt_options options = options_for(words[2]);
    options.replay = atoi(words[5]);
    if (net_create(&options, &model, NULL, 0) != CLOPT_OK) {
        return 1;
    }
    for (size_t i = INPUT; i <= OUTPUT; i++) {
        hosts[i] = calloc(1, net_info.tensors[i].bytes);
        buffers[i] =
            clCreateBuffer(context, CL_MEM_READ_WRITE, net_info.tensors[i].bytes, NULL, NULL);
    }
    bind(0);
    int done = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int next = warm + (inferences - warm) * i / (SAMPLES - 1);
        infer(done, next, rebind);
        done = next;
        malloc_trim(0); /* what was freed and stays resident would hide what is lost */
        printf("%d %ld %zu %u\n", done, resident(), allocated(), handles());
    }
    net_destroy(model);
    unsigned left = handles();
    for (size_t i = INPUT; i <= OUTPUT; i++) {
        clReleaseMemObject(buffers[i]);
        free(hosts[i]);
    }
    close_device();
    if (left) {
        fprintf(stderr, "%u handles of CLML are left\n", left);
    }
    return left != 0;
}
