/* Activations, alone and at the end of convolutions. */
#ifndef CLML_OP_ACTIVATION_H
#define CLML_OP_ACTIVATION_H

#include "reference.h"

/* Kernel functions; what is not a number stays so. */
#define CLML_ACTIVATION_TEXT \
    CLML_SOURCE( \
        float identity(float x) { return x; } \
        float relu(float x) { return x < 0.0f ? 0.0f : x; } \
        float relu6(float x) { return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x; } \
        float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); })

/* Checks the descriptor; the name of a function of CLML_ACTIVATION_TEXT or OpenCL. */
const char *clml_activation_of(clml_build *b, const cl_ml_op_activation_desc_qcom *desc);

#endif
