/* The tuning cache: the fastest variants of operations that the device has found. */
#include "clopt_clml_internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const WHAT = "the tuning of operations";

static clopt_status load(clopt_model *model, const unsigned char *tuning, size_t bytes) {
    clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    unsigned char *copy = malloc(bytes ? bytes : 1); /* CLML requires a writable buffer */
    if (!copy) {
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory for %s.", WHAT);
    }
    memcpy(copy, tuning, bytes);
    cl_int error = CLOPT_CLML_CALL(clml, clLoadMLTuningCacheQCOM(offload->tuning, bytes, copy));
    free(copy);
    return error == CL_SUCCESS
               ? CLOPT_OK
               : clopt_clml_fail(model, clml, "clLoadMLTuningCacheQCOM", WHAT, error);
}

clopt_status clopt_clml_load_tuning(clopt_model *model, const unsigned char *tuning,
                                    size_t bytes) {
    clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    cl_int error = CLOPT_CLML_CALL(clml, clCreateMLTuningCacheQCOM(&offload->tuning));
    if (error != CL_SUCCESS) {
        offload->tuning = NULL;
        return clopt_clml_fail(model, clml, "clCreateMLTuningCacheQCOM", WHAT, error);
    }
    return tuning ? load(model, tuning, bytes) : CLOPT_OK;
}

clopt_status clopt_clml_tune(clopt_model *model, cl_command_queue queue, unsigned operation) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    clopt_clml_position at = clopt_clml_find_operation(model, operation);
    cl_ml_op_qcom op = at.state->operations[at.index];
    if (!op) {
        return CLOPT_OK; /* copies need no tuning */
    }
    cl_int error =
        CLOPT_CLML_CALL(clml, clTuneMLOpQCOM(queue, op, at.state->set, offload->tuning, NULL));
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_clml_fail(model, clml, "clTuneMLOpQCOM",
                                                 at.graph->operations[at.index].name, error);
}

clopt_status clopt_clml_save_tuning(clopt_model *model, unsigned char **tuning, size_t *bytes) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    size_t length = 0;
    cl_int error =
        CLOPT_CLML_CALL(clml, clSaveMLTuningCacheQCOM(offload->tuning, 0, NULL, &length));
    if (error != CL_SUCCESS) {
        return clopt_clml_fail(model, clml, "clSaveMLTuningCacheQCOM", WHAT, error);
    }
    unsigned char *data = malloc(length ? length : 1);
    if (!data) {
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory for %s.", WHAT);
    }
    error = CLOPT_CLML_CALL(clml, clSaveMLTuningCacheQCOM(offload->tuning, length, data, NULL));
    if (error != CL_SUCCESS) {
        free(data);
        return clopt_clml_fail(model, clml, "clSaveMLTuningCacheQCOM", WHAT, error);
    }
    *tuning = data;
    *bytes = length;
    return CLOPT_OK;
}
