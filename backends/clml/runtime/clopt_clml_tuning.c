/* What the device found out about the fastest ways to compute operations. */
#include "clopt_clml_internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const WHAT = "the tuning of operations";

static clopt_status load(clopt_model *model, const unsigned char *tuning, size_t bytes) {
    clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    unsigned char *copy = malloc(bytes ? bytes : 1); /* CLML takes it as something to write to */
    if (!copy) {
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is no memory for %s.", WHAT);
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

static clopt_status tune_graph(clopt_model *model, cl_command_queue queue,
                               const clopt_clml_graph *graph, const clopt_clml_state *state) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    for (unsigned i = 0; i < graph->operation_count; i++) {
        if (!state->operations[i]) {
            continue;
        }
        cl_int error = CLOPT_CLML_CALL(clml, clTuneMLOpQCOM(queue, state->operations[i], state->set,
                                                            offload->tuning, NULL));
        if (error != CL_SUCCESS) {
            return clopt_clml_fail(model, clml, "clTuneMLOpQCOM", graph->operations[i].name, error);
        }
    }
    return CLOPT_OK;
}

/* Everything that the cache holds, malloc'd. */
static clopt_status save(clopt_model *model, unsigned char **tuning, size_t *bytes) {
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
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is no memory for %s.", WHAT);
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

clopt_status clopt_clml_tune(clopt_model *model, cl_command_queue queue, unsigned char **tuning,
                             size_t *bytes) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    const clopt_clml_offload *offload = model->offloaded;
    clopt_status status = CLOPT_OK;
    for (unsigned i = 0; status == CLOPT_OK && i < tables->graph_count; i++) {
        status = tune_graph(model, queue, &tables->graphs[i], &offload->graphs[i]);
    }
    return status == CLOPT_OK ? save(model, tuning, bytes) : status;
}
