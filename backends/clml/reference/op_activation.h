/* Activations, alone and at the end of convolutions. */
#ifndef CLML_OP_ACTIVATION_H
#define CLML_OP_ACTIVATION_H

#include "reference.h"

/* A kernel function; NaN stays NaN. */
#define CLML_ACTIVATION_TEXT \
    CLML_SOURCE( \
        float activated(float x, int activation) { \
            switch (activation) { \
            case 1: return x < 0.0f ? 0.0f : x; \
            case 2: return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x; \
            case 3: return 1.0f / (1.0f + exp(-x)); \
            case 4: return tanh(x); \
            } \
            return x; \
        })

/* The numbers that activated() knows. */
typedef enum {
    CLML_IDENTITY,
    CLML_RELU,
    CLML_RELU6,
    CLML_SIGMOID,
    CLML_TANH,
} clml_activation;

/* Checks the descriptor. */
clml_activation clml_activation_of(clml_build *b, const cl_ml_op_activation_desc_qcom *desc);

/* As messages call it. */
const char *clml_activation_name(clml_activation activation);

#endif
