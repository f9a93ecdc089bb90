/* The life cycle of a model's graphs: tensors, operations, sizes, memory, constants, sets; then one
 * command per operation for each inference.
 */
#include "clopt_clml_internal.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t bytes) {
    return calloc(count ? count : 1, bytes);
}

clopt_clml_position clopt_clml_find_operation(const clopt_model *model, unsigned operation) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    const clopt_clml_offload *offload = model->offloaded;
    unsigned graph = 0;
    while (operation >= tables->graphs[graph].operation_count) {
        operation -= tables->graphs[graph++].operation_count;
    }
    clopt_clml_position found = {&tables->graphs[graph], &offload->graphs[graph], operation};
    return found;
}

/* Creation */

static clopt_status allocate_graphs(clopt_model *model) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    clopt_clml_offload *offload = model->offloaded;
    offload->graphs = allocate(tables->graph_count, sizeof *offload->graphs);
    offload->larger = allocate(model->program->slot_count, sizeof *offload->larger);
    int complete = offload->graphs && offload->larger;
    for (unsigned i = 0; complete && i < tables->graph_count; i++) {
        const clopt_clml_graph *graph = &tables->graphs[i];
        clopt_clml_state *state = &offload->graphs[i];
        state->is_outdated = 1;
        state->tensors = allocate(graph->tensor_count, sizeof *state->tensors);
        state->bytes = allocate(graph->tensor_count, sizeof *state->bytes);
        state->own = allocate(graph->tensor_count, sizeof *state->own);
        state->operations = allocate(graph->operation_count, sizeof *state->operations);
        state->bindings = allocate(graph->tensor_count, sizeof *state->bindings);
        complete = state->tensors && state->bytes && state->own && state->operations &&
                   state->bindings;
    }
    return complete ? CLOPT_OK
                    : clopt_fail(model, CLOPT_HOST_MEMORY,
                                 "There is not enough memory for the tables of CLML's operations.");
}

static clopt_status create_tensor(clopt_model *model, const clopt_clml_tensor *facts,
                                  cl_ml_tensor_qcom *tensor) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    cl_ml_tensor_desc_qcom descriptor = facts->descriptor;
    cl_int error;
    if (clml->major < 4) {
        error = CLOPT_CLML_BEFORE_4(
            clml, clCreateMLTensorQCOM(model->context, NULL, &descriptor, tensor));
    } else {
#if CLOPT_CLML_NEWEST >= 4
        static const cl_ml_tensor_usage_qcom usages[] = {
            [CLOPT_CLML_CNN] = CL_TENSOR_USAGE_CNN_QCOM,
            [CLOPT_CLML_TNN] = CL_TENSOR_USAGE_TNN_QCOM,
            [CLOPT_CLML_PARAMETER] = CL_TENSOR_USAGE_PARAMETER_QCOM,
            [CLOPT_CLML_NO_TENSOR] = CL_TENSOR_USAGE_UNUSED_QCOM,
        };
        error = CLOPT_CLML_FROM_4(
            clml, clCreateMLTensorWithUsageQCOM(model->context, NULL, &descriptor,
                                                usages[facts->usage], tensor));
#else
        error = CL_INVALID_OPERATION;
#endif
    }
    if (error != CL_SUCCESS) {
        *tensor = NULL;
        return clopt_clml_fail(model, clml, "clCreateMLTensorQCOM", facts->name, error);
    }
    return CLOPT_OK;
}

static clopt_status create_unused(clopt_model *model) {
    clopt_clml_offload *offload = model->offloaded;
    clopt_clml_tensor facts;
    memset(&facts, 0, sizeof facts);
    facts.name = "no tensor";
    facts.descriptor.num_dimensions = CL_TENSOR_UNUSED_QCOM;
    facts.usage = CLOPT_CLML_NO_TENSOR;
    return create_tensor(model, &facts, &offload->unused);
}

static clopt_status create_tensors(clopt_model *model, const clopt_clml_graph *graph,
                                   clopt_clml_state *state) {
    clopt_status status = CLOPT_OK;
    for (unsigned i = 0; status == CLOPT_OK && i < graph->tensor_count; i++) {
        status = create_tensor(model, &graph->tensors[i], &state->tensors[i]);
        state->bindings[i].tensor = state->tensors[i];
    }
    return status;
}

static clopt_status create_operation(clopt_model *model, const clopt_clml_graph *graph,
                                     clopt_clml_state *state, unsigned index) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_operation *facts = &graph->operations[index];
    if (!facts->kind->create) {
        return CLOPT_OK;
    }
    cl_ml_tensor_qcom *tensors = allocate(facts->tensor_count, sizeof *tensors);
    if (!tensors) {
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory to create %s.",
                          facts->name);
    }
    for (unsigned i = 0; i < facts->tensor_count; i++) {
        unsigned tensor = facts->tensors[i];
        tensors[i] = tensor == CLOPT_CLML_UNUSED ? offload->unused : state->tensors[tensor];
    }
    clopt_clml_request request = {&offload->interface, model->context, offload->tuning,
                                  offload->unused,     facts,          tensors};
    cl_int error = facts->kind->create(&request, &state->operations[index]);
    free(tensors);
    if (error != CL_SUCCESS) {
        state->operations[index] = NULL;
        return clopt_clml_fail(model, &offload->interface, facts->kind->call, facts->name, error);
    }
    return CLOPT_OK;
}

static clopt_status create_set(clopt_model *model, const clopt_clml_graph *graph,
                               clopt_clml_state *state) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    cl_int error = CLOPT_CLML_CALL(clml, clCreateMLTensorMemoryDescriptorSetQCOM(&state->set));
    if (error != CL_SUCCESS) {
        state->set = NULL;
        return clopt_clml_fail(model, clml, "clCreateMLTensorMemoryDescriptorSetQCOM", graph->name,
                               error);
    }
    return CLOPT_OK;
}

static clopt_status create_graph(clopt_model *model, const clopt_clml_graph *graph,
                                 clopt_clml_state *state) {
    clopt_status status = create_tensors(model, graph, state);
    for (unsigned i = 0; status == CLOPT_OK && i < graph->operation_count; i++) {
        status = create_operation(model, graph, state, i);
    }
    return status;
}

static void count(clopt_model *model) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    clopt_clml_offload *offload = model->offloaded;
    offload->info.library = clopt_clml.library;
    offload->info.major = offload->interface.major;
    offload->info.minor = offload->interface.minor;
    for (unsigned i = 0; i < tables->graph_count; i++) {
        const clopt_clml_graph *graph = &tables->graphs[i];
        offload->info.operations += graph->operation_count;
        for (unsigned j = 0; j < graph->tensor_count; j++) {
            offload->info.tensors += graph->tensors[j].usage != CLOPT_CLML_PARAMETER;
        }
    }
}

static clopt_status create(clopt_model *model, int newest, const unsigned char *weights,
                           const unsigned char *tuning, size_t tuning_bytes) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    clopt_clml_offload *offload = allocate(1, sizeof *offload);
    int oldest = 1;
    if (!offload) {
        return clopt_fail(model, CLOPT_HOST_MEMORY,
                          "There is not enough memory for CLML's operations.");
    }
    model->offloaded = offload;
    for (unsigned i = 0; i < tables->graph_count; i++) {
        oldest = tables->graphs[i].version > oldest ? tables->graphs[i].version : oldest;
    }
    clopt_status status = clopt_clml_find(model, oldest, newest, &offload->interface);
    if (status == CLOPT_OK) {
        status = allocate_graphs(model);
    }
    if (status == CLOPT_OK) {
        status = clopt_clml_load_tuning(model, tuning, tuning_bytes);
    }
    if (status == CLOPT_OK) {
        status = create_unused(model);
    }
    for (unsigned i = 0; status == CLOPT_OK && i < tables->graph_count; i++) {
        status = create_graph(model, &tables->graphs[i], &offload->graphs[i]);
    }
    if (status == CLOPT_OK) {
        count(model);
        status = clopt_clml_make_memory(model, weights);
    }
    for (unsigned i = 0; status == CLOPT_OK && i < tables->graph_count; i++) {
        status = create_set(model, &tables->graphs[i], &offload->graphs[i]);
    }
    return status;
}

static void release_graph(const clopt_clml_interface *clml, const clopt_clml_graph *graph,
                          clopt_clml_state *state) {
    if (state->set) {
        CLOPT_CLML_CALL(clml, clReleaseMLTensorMemoryDescriptorSetQCOM(state->set));
    }
    for (unsigned i = 0; state->operations && i < graph->operation_count; i++) {
        if (state->operations[i]) {
            CLOPT_CLML_CALL(clml, clReleaseMLOpQCOM(state->operations[i]));
        }
    }
    for (unsigned i = 0; state->tensors && i < graph->tensor_count; i++) {
        if (state->tensors[i]) {
            CLOPT_CLML_CALL(clml, clReleaseMLTensorQCOM(state->tensors[i]));
        }
    }
}

static void destroy(clopt_model *model) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    clopt_clml_offload *offload = model->offloaded;
    if (!offload) {
        return;
    }
    const clopt_clml_interface *clml = &offload->interface;
    for (unsigned i = 0; offload->graphs && i < tables->graph_count; i++) {
        release_graph(clml, &tables->graphs[i], &offload->graphs[i]);
    }
    if (offload->unused) {
        CLOPT_CLML_CALL(clml, clReleaseMLTensorQCOM(offload->unused));
    }
    if (offload->tuning) {
        CLOPT_CLML_CALL(clml, clReleaseMLTuningCacheQCOM(offload->tuning));
    }
    clopt_clml_release_memory(model);
    for (unsigned i = 0; offload->graphs && i < tables->graph_count; i++) {
        clopt_clml_state *state = &offload->graphs[i];
        free(state->tensors);
        free(state->bytes);
        free(state->own);
        free(state->operations);
        free(state->bindings);
    }
    free(offload->graphs);
    free(offload->larger);
    free(offload);
    model->offloaded = NULL;
}

/* Binding */

static clopt_status place(clopt_model *model, unsigned operation, unsigned argument,
                          cl_mem memory) {
    clopt_clml_position at = clopt_clml_find_operation(model, operation);
    unsigned tensor = clopt_clml_argument(at.graph, at.index, argument);
    if (!at.state->own[tensor]) {
        at.state->bindings[tensor].memory = memory;
        at.state->is_outdated = 1; /* a new object may have the address of a released one */
    }
    return CLOPT_OK;
}

static clopt_status prepare(clopt_model *model) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    for (unsigned i = 0; i < tables->graph_count; i++) {
        clopt_clml_state *state = &offload->graphs[i];
        if (!state->is_outdated) {
            continue;
        }
        cl_int error = CLOPT_CLML_CALL(
            clml, clUpdateMLTensorMemoryDescriptorSetQCOM(
                      state->set, tables->graphs[i].tensor_count, state->bindings));
        if (error != CL_SUCCESS) {
            return clopt_clml_fail(model, clml, "clUpdateMLTensorMemoryDescriptorSetQCOM",
                                   tables->graphs[i].name, error);
        }
        state->is_outdated = 0;
    }
    return CLOPT_OK;
}

/* Inference */

static cl_int enqueue_copy(const clopt_clml_interface *clml, cl_command_queue queue,
                           const clopt_clml_position *at, cl_event *done) {
    const unsigned *tensors = at->graph->operations[at->index].tensors;
    const cl_ml_tensor_memory_desc_qcom *from = &at->state->bindings[tensors[0]];
    const cl_ml_tensor_memory_desc_qcom *to = &at->state->bindings[tensors[1]];
    return CLOPT_CLML_CALL(
        clml, clEnqueueCopyMLTensorDataQCOM(queue, from->tensor, from->memory, to->tensor,
                                            to->memory, 0, NULL, done));
}

static clopt_status enqueue(clopt_model *model, cl_command_queue queue, unsigned operation,
                            cl_event *done) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    clopt_clml_position at = clopt_clml_find_operation(model, operation);
    const clopt_clml_operation *facts = &at.graph->operations[at.index];
    cl_ml_op_qcom op = at.state->operations[at.index];
    if (!op) {
        cl_int error = enqueue_copy(clml, queue, &at, done);
        return error == CL_SUCCESS
                   ? CLOPT_OK
                   : clopt_clml_fail(model, clml, facts->kind->call, facts->name, error);
    }
    cl_int error =
        CLOPT_CLML_CALL(clml, clEnqueueMLOpQCOM(queue, op, at.state->set, 0, NULL, done));
    return error == CL_SUCCESS
               ? CLOPT_OK
               : clopt_clml_fail(model, clml, "clEnqueueMLOpQCOM", facts->name, error);
}

static int is_recordable(const clopt_model *model, unsigned operation) {
    clopt_clml_position at = clopt_clml_find_operation(model, operation);
    return at.state->operations[at.index] != NULL;
}

/* Replays a recording without replacing any of its arguments. */
static clopt_status replay(clopt_model *model, void *recording) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    cl_int error = CLOPT_CLML_CALL(
        clml, clEnqueueRecordingMLOpQCOM(model->queue, recording, 0, NULL, 0, NULL, 0, NULL, 0,
                                         NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL));
    return error == CL_SUCCESS ? CLOPT_OK
                               : clopt_clml_fail(model, clml, "clEnqueueRecordingMLOpQCOM",
                                                 "the recording of an inference", error);
}

/* Queries */

static const char *name_of(const clopt_model *model, unsigned operation) {
    clopt_clml_position at = clopt_clml_find_operation(model, operation);
    return at.graph->operations[at.index].name;
}

static void describe(const clopt_model *model, clopt_offload_info *info) {
    const clopt_clml_offload *offload = model->offloaded;
    if (offload) {
        *info = offload->info;
    }
}

const clopt_offload clopt_clml = {
    .library = "CLML",
    .create = create,
    .destroy = destroy,
    .place = place,
    .prepare = prepare,
    .enqueue = enqueue,
    .is_recordable = is_recordable,
    .replay = replay,
    .tune = clopt_clml_tune,
    .save_tuning = clopt_clml_save_tuning,
    .name_of = name_of,
    .describe = describe,
};
