/* Checks that several operations share. All are clml_require: the first failure counts. */
#ifndef CLML_OP_CHECKS_H
#define CLML_OP_CHECKS_H

#include "reference.h"

/* How a window goes over H ([0]) and W ([1]). */
typedef struct clml_windows {
    const cl_uint *size;
    const cl_uint *before; /* padding */
    const cl_uint *after;
    const cl_uint *strides;
    const cl_uint *dilations;
} clml_windows;

/* A tensor of one image: larger batches are not known to work. */
void clml_require_one_image(clml_build *b, const char *role, const clml_tensor *tensor);

/* One image, OPTIMAL. */
void clml_require_feature_map(clml_build *b, const char *role, const clml_tensor *tensor);

/* One image in any layout, and the result in the same layout. */
void clml_require_same_layout(clml_build *b, const char *x_role, const clml_tensor *x,
                              const char *y_role, const clml_tensor *y);

/* Equal n, c, h and w. */
void clml_require_same_shape(clml_build *b, const char *x_role, const clml_tensor *x,
                             const char *y_role, const clml_tensor *y);

/* 1 x channels x 1 x 1, OPTIMAL; NULL is allowed. */
void clml_require_vector(clml_build *b, const char *role, const clml_tensor *tensor, int channels);

/* Members of a descriptor that are between `least` and CLML_MAX_SIZE: two, for H and W. */
void clml_require_pair(clml_build *b, const char *what, const cl_uint *pair, cl_uint least);

/* The `output` sizes are those of windows that begin every `strides` and fit into the padded
 * `input`, as many as there are: the rest of a stride is left out. */
void clml_require_windows(clml_build *b, const clml_windows *windows, const clml_tensor *input,
                          const clml_tensor *output);

/* An operation that has no batch norm got no epsilon. */
void clml_require_no_epsilon(clml_build *b);

#endif
