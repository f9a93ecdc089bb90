/* Batch norm, alone and after convolutions. */
#ifndef CLML_OP_BATCHNORM_H
#define CLML_OP_BATCHNORM_H

#include "reference.h"

#define CLML_BATCHNORM_TEXT \
    CLML_SOURCE( \
        float normalized(float x, float mean, float variance, float scale, float shift, \
                         float epsilon) { \
            return (x - mean) / sqrt(variance + epsilon) * scale + shift; \
        })

typedef struct clml_batchnorm {
    clml_tensor *mean, *variance, *scale, *shift;
} clml_batchnorm;

/* Gets the four parameters, of shape 1 x channels x 1 x 1, and checks the descriptor. */
clml_batchnorm clml_batchnorm_of(clml_build *b, const cl_ml_op_batchnorm_desc_qcom *desc,
                                 cl_ml_tensor_qcom mean, cl_ml_tensor_qcom variance,
                                 cl_ml_tensor_qcom scale, cl_ml_tensor_qcom shift, int channels);

#endif
