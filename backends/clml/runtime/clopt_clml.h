/* Runs the operations of a model that Qualcomm's CLML (cl_qcom_ml_ops) computes.
 *
 * This header and its sources are the same for every model; applications call the functions of
 * clopt_runtime.h. This header declares the tables that clopt generates for a model. They name
 * CLML's enumerators, so the header of any SDK defines their values.
 */
#ifndef CLOPT_CLML_H
#define CLOPT_CLML_H

#include "clopt_tables.h"

#include <CL/cl_qcom_ml_ops.h>

/* The newest interface version to call, regardless of the header: define it if a header declares
 * a version differently from this runtime's calls. */
#ifndef CLOPT_CLML_MAX_VERSION
#define CLOPT_CLML_MAX_VERSION 5
#endif

/* The newest version that both the header and this runtime support. */
#if CL_QCOM_ML_OPS_H_MAJOR_VERSION < CLOPT_CLML_MAX_VERSION
#define CLOPT_CLML_NEWEST CL_QCOM_ML_OPS_H_MAJOR_VERSION
#elif CLOPT_CLML_MAX_VERSION < 5
#define CLOPT_CLML_NEWEST CLOPT_CLML_MAX_VERSION
#else
#define CLOPT_CLML_NEWEST 5
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names that public programs do not use, or that older headers may lack: define the macro if
 * your header has another name. */
#ifndef CLOPT_CLML_ACTIVATION_SIGMOID
#define CLOPT_CLML_ACTIVATION_SIGMOID CL_ACTIVATION_SIGMOID
#endif
#ifndef CLOPT_CLML_ACTIVATION_TANH
#define CLOPT_CLML_ACTIVATION_TANH CL_ACTIVATION_TANH
#endif
#ifndef CLOPT_CLML_SOFTMAX_OVER_CHANNELS
#define CLOPT_CLML_SOFTMAX_OVER_CHANNELS CL_SOFTMAX_MODE_SPATIAL_QCOM
#endif

/* The purpose of a tensor, which the interface has since version 4. */
typedef enum clopt_clml_usage {
    CLOPT_CLML_CNN,       /* feature maps */
    CLOPT_CLML_TNN,       /* feature maps of transformers */
    CLOPT_CLML_PARAMETER, /* a constant */
    CLOPT_CLML_NO_TENSOR  /* the placeholder for an absent tensor */
} clopt_clml_usage;

typedef struct clopt_clml_tensor {
    const char *name;
    cl_ml_tensor_desc_qcom descriptor;
    clopt_clml_usage usage;
    int is_row_major;      /* whether its bytes are an application's array, not in device layout */
    size_t bytes;          /* the planned size; for a constant, its size in the weights file, */
    size_t weights_offset; /* where it starts at this byte, in NCHW */
} clopt_clml_tensor;

/* Placeholder for an absent tensor of an operation. */
#define CLOPT_CLML_UNUSED ((unsigned)-1)

typedef struct clopt_clml_kind clopt_clml_kind;

/* An operation. `tensors` also lists its constants and absent tensors, which are not arguments
 * of its command. */
typedef struct clopt_clml_operation {
    const char *name;
    const clopt_clml_kind *kind;
    const void *descriptor; /* NULL if its kind has none */
    const cl_ml_op_batchnorm_desc_qcom *batch_norm;
    const cl_ml_op_activation_desc_qcom *activation;
    cl_float epsilon;
    const unsigned *tensors; /* its inputs, in the order of its kind, then its result */
    unsigned tensor_count;
} clopt_clml_operation;

typedef struct clopt_clml_graph {
    const char *name;
    int version; /* the oldest major version of the interface that has all its operations */
    const clopt_clml_tensor *tensors;
    unsigned tensor_count;
    const clopt_clml_operation *operations; /* in execution order */
    unsigned operation_count;
} clopt_clml_graph;

/* Operations are numbered over all graphs: first those of the first graph, then those of the
   next. */
typedef struct clopt_clml_tables {
    const clopt_clml_graph *graphs;
    unsigned graph_count;
} clopt_clml_tables;

/* The kinds of operations, each with its descriptor and the tensors that it reads. */
extern const clopt_clml_kind clopt_clml_convolution; /* convolution: input, weight, bias */
extern const clopt_clml_kind clopt_clml_convolution_activation;
/* convolution: input, weight, bias, mean, variance, scale, bias of the normalisation */
extern const clopt_clml_kind clopt_clml_convolution_batch_norm;
extern const clopt_clml_kind clopt_clml_convolution_batch_norm_activation;
extern const clopt_clml_kind clopt_clml_batch_norm; /* none: input, mean, variance, scale, bias */
extern const clopt_clml_kind clopt_clml_activation; /* none: input */
extern const clopt_clml_kind clopt_clml_pooling;    /* pooling: input */
extern const clopt_clml_kind clopt_clml_softmax;    /* softmax: input */
extern const clopt_clml_kind clopt_clml_pad;        /* pad: input */
extern const clopt_clml_kind clopt_clml_reshape;    /* none: input */
extern const clopt_clml_kind clopt_clml_concat;     /* concat: inputs */
extern const clopt_clml_kind clopt_clml_fully_connected; /* fully_connected: input, weight, bias */
extern const clopt_clml_kind clopt_clml_gemm;            /* gemm: a, b */
extern const clopt_clml_kind clopt_clml_binary;          /* binary: a, b */
extern const clopt_clml_kind clopt_clml_clip;            /* clip: input */
extern const clopt_clml_kind clopt_clml_depth_to_space;  /* depthtospace: input */
extern const clopt_clml_kind clopt_clml_resize_bilinear; /* resize_bilinear: input */
extern const clopt_clml_kind clopt_clml_copy;            /* none: a copy of the same tensor */

/* The functions that the runtime calls for a model with these tables. */
extern const clopt_offload clopt_clml;

#ifdef __cplusplus
}
#endif

#endif
