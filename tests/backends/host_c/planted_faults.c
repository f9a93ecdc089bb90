/* Every fault that a check of memory must find, in a kernel and on the host.
 *
 * usage: planted_faults PLATFORM
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 128 };

static const char *source = "kernel void put(global int *x, int at) { x[at] = at; }";

static void write_behind_a_buffer(cl_device_id device) {
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    cl_int at = BYTES / sizeof(cl_int);
    size_t one = 1;
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "put", NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clSetKernelArg(kernel, 1, sizeof at, &at);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    clFinish(queue);
    clReleaseKernel(kernel);
    clReleaseMemObject(buffer);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static void harm_the_host(void) {
    volatile char *block = malloc(BYTES);
    if (block && block[1]) {
        puts("not initialised");
    }
    if (block) {
        block[BYTES] = 1;
        free((char *)block);
        block[2] = 1;
    }
    block = malloc(BYTES);
    block = NULL;
}

int main(int count, char **words) {
    cl_platform_id platforms[8];
    cl_uint found = 0;
    clGetPlatformIDs(8, platforms, &found);
    for (cl_uint i = 0; i < found && count > 1; i++) {
        char name[256] = "";
        cl_device_id device;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!strcmp(name, words[1]) &&
            !clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
            write_behind_a_buffer(device);
        }
    }
    harm_the_host();
    return 0;
}
