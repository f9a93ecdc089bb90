/* Shared by the files of core_main.c: a device, and checks that go on after a failure. */
#ifndef CORE_H
#define CORE_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue, which all devices have */
#include <CL/cl_qcom_ml_ops.h>

extern cl_platform_id platform;
extern cl_device_id device;
extern cl_context context;
extern cl_command_queue queue;
extern CLMLInterfaceV5QCOM *clml;

/* The condition holds. */
#define CHECK(condition) check(__FILE__, __LINE__, #condition, (condition) != 0)
void check(const char *file, int line, const char *what, int holds);

/* The call succeeds, or its error and the reason are printed. */
#define DO(call) succeed(__FILE__, __LINE__, #call, (call))
void succeed(const char *file, int line, const char *what, cl_int error);

/* The call returns an error, and its message has the part. */
#define REFUSED(call, part) refused(__FILE__, __LINE__, #call, (call), part)
void refused(const char *file, int line, const char *what, cl_int error, const char *part);

/* A tensor's descriptor, and a tensor. */
cl_ml_tensor_desc_qcom describe(cl_ml_tensor_layout_qcom layout, size_t n, size_t c, size_t h,
                                size_t w);
cl_ml_tensor_qcom tensor_of(cl_channel_type type, cl_ml_tensor_layout_qcom layout, size_t n,
                            size_t c, size_t h, size_t w);
cl_ml_tensor_qcom unused_tensor(void);

cl_mem buffer_of(size_t bytes);
cl_uint size_of(cl_ml_tensor_qcom tensor);

/* Adds two tensors; and clips one, with the error as result. */
cl_int add(cl_ml_tensor_qcom a, cl_ml_tensor_qcom b, cl_ml_tensor_qcom c, cl_ml_op_qcom *op);

/* Tensors a, b, c = a + b of n elements, with op, set and memories. */
typedef struct addition {
    cl_ml_tensor_qcom tensors[3];
    cl_mem memories[3];
    cl_ml_tensor_memory_desc_qcom descs[3];
    cl_ml_op_qcom op;
    cl_ml_tensor_mem_desc_set_qcom set;
} addition;
addition make_addition(cl_ml_tensor_layout_qcom layout, size_t n);
void write_addition(const addition *sum, cl_command_queue on, float a, float b);
int is_addition(const addition *sum, cl_command_queue on, size_t n, float expected);
void release_addition(addition *sum);

void test_interface(void);
void test_tensors(void);
void test_transfers(void);
void test_sets(void);
void test_events(void);
void test_operations(void);
void test_tuning(void);
void test_threads(void);
void test_recordings(void);
void test_layer(void);

#endif
