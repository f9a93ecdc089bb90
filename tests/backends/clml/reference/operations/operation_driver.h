/* Shared by operation_driver.c and operation_creators.c. */
#ifndef OPERATION_DRIVER_H
#define OPERATION_DRIVER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_qcom_ml_ops.h>

enum { MAXIMUM_TENSORS = 48 };

/* How an operation gets a tensor; FIRST: the one of the first row. */
enum { REAL, UNUSED, MISSING, FIRST };

typedef struct {
    cl_int state;
    cl_channel_type type;
    cl_int layout;
    cl_int usage;
    cl_uint sizes[4];
    const void *data; /* in NCHW order, or NULL */
    void *result;     /* likewise, or NULL: its content afterwards */
} tensor_row;

typedef struct {
    const char *operation;
    const cl_int *integers;
    const cl_float *floats;
    const cl_ml_op_properties_qcom *properties;
    const tensor_row *rows;
    cl_uint count;
    cl_int waits; /* whether the operation waits for a marker and gives an event */
} request;

typedef struct {
    cl_context context;
    cl_command_queue queue;
    CLMLInterfaceV4QCOM *clml;
    cl_ml_tensor_qcom kept; /* the reference keeps programs as long as it has an object there */
} session;

typedef struct {
    const session *session;
    const request *request;
    cl_ml_tensor_qcom tensors[MAXIMUM_TENSORS];
    cl_ml_tensor_memory_desc_qcom memory[MAXIMUM_TENSORS];
    cl_uint bound;
    cl_ml_tensor_mem_desc_set_qcom set;
    cl_ml_op_qcom op;
} state;

#define CLML(s) (s)->session->clml

/* Makes the operation of the request from tensors that exist. */
cl_int create_operation(state *s);

#endif
