/* The memory of tensors: a place in the model's plan if the tensor fits there, else a buffer. */
#include "clopt_clml_internal.h"

#include <stdlib.h>

static int is_argument(const clopt_clml_graph *graph, unsigned tensor) {
    return tensor != CLOPT_CLML_UNUSED && graph->tensors[tensor].usage != CLOPT_CLML_PARAMETER;
}

unsigned clopt_clml_argument(const clopt_clml_graph *graph, unsigned operation,
                             unsigned argument) {
    const unsigned *tensors = graph->operations[operation].tensors;
    while (!is_argument(graph, *tensors) || argument-- > 0) {
        tensors++;
    }
    return *tensors;
}

/* Must be called after all operations are created, because the device then chooses tensor
   layouts. */
static clopt_status ask_sizes(clopt_model *model, const clopt_clml_graph *graph,
                              clopt_clml_state *state) {
    const clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    for (unsigned i = 0; i < graph->tensor_count; i++) {
        const clopt_clml_tensor *tensor = &graph->tensors[i];
        cl_uint bytes = 0;
        cl_int error = CLOPT_CLML_CALL(
            clml, clGetMLTensorMemorySizeQCOM(model->context, state->tensors[i], &bytes));
        if (error != CL_SUCCESS) {
            return clopt_clml_fail(model, clml, "clGetMLTensorMemorySizeQCOM", tensor->name, error);
        }
        state->bytes[i] = bytes;
        if (bytes > tensor->bytes && tensor->is_row_major) {
            return clopt_fail(model, CLOPT_DEVICE,
                              "The device needs %u bytes for %s, a row-major tensor of %zu bytes; "
                              "compile %s with the fact clml=off of its target.",
                              (unsigned)bytes, tensor->name, tensor->bytes,
                              model->program->info->name);
        }
    }
    return CLOPT_OK;
}

static clopt_status make_buffer(clopt_model *model, const char *what, size_t bytes,
                                cl_mem *buffer) {
    cl_int error;
    *buffer = clCreateBuffer(model->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &error);
    return *buffer ? CLOPT_OK : clopt_fail_opencl(model, "clCreateBuffer", what, error);
}

static clopt_status upload_constants(clopt_model *model, const clopt_clml_graph *graph,
                                     clopt_clml_state *state, const unsigned char *weights) {
    clopt_clml_offload *offload = model->offloaded;
    const clopt_clml_interface *clml = &offload->interface;
    for (unsigned i = 0; i < graph->tensor_count; i++) {
        const clopt_clml_tensor *tensor = &graph->tensors[i];
        if (tensor->usage != CLOPT_CLML_PARAMETER) {
            continue;
        }
        clopt_status status = make_buffer(model, tensor->name, state->bytes[i], &state->own[i]);
        if (status != CLOPT_OK) {
            return status;
        }
        offload->info.constant_bytes += state->bytes[i];
        state->bindings[i].memory = state->own[i];
        cl_int error = CLOPT_CLML_CALL(
            clml, clEnqueueWriteMLTensorDataQCOM(
                      model->queue, weights + tensor->weights_offset, CL_TENSOR_LAYOUT_NCHW_QCOM,
                      state->tensors[i], state->own[i], 0, NULL, NULL));
        if (error != CL_SUCCESS) {
            return clopt_clml_fail(model, clml, "clEnqueueWriteMLTensorDataQCOM", tensor->name,
                                   error);
        }
    }
    return CLOPT_OK;
}

/* Calls `visit` with every tensor that is an argument of a command, and its slot. */
static clopt_status for_each_argument(
    clopt_model *model,
    clopt_status (*visit)(clopt_model *, const clopt_clml_position *, unsigned, unsigned, size_t *),
    size_t *needed) {
    const clopt_program *program = model->program;
    clopt_status status = CLOPT_OK;
    for (unsigned i = 0; i < program->command_count; i++) {
        const clopt_command *command = &program->commands[i];
        if (command->kind != CLOPT_OFFLOAD) {
            continue;
        }
        clopt_clml_position at = clopt_clml_find_operation(model, command->operation);
        for (unsigned j = 0; status == CLOPT_OK && j < command->argument_count; j++) {
            unsigned tensor = clopt_clml_argument(at.graph, at.index, j);
            if (at.state->bytes[tensor] > at.graph->tensors[tensor].bytes) {
                status = visit(model, &at, tensor, command->arguments[j], needed);
            }
        }
    }
    return status;
}

static clopt_status note_size(clopt_model *model, const clopt_clml_position *at, unsigned tensor,
                              unsigned slot, size_t *needed) {
    (void)model;
    if (needed[slot] < at->state->bytes[tensor]) {
        needed[slot] = at->state->bytes[tensor];
    }
    return CLOPT_OK;
}

/* Tensors of one slot are never needed at the same time, so they can also share a larger buffer. */
static clopt_status use_larger(clopt_model *model, const clopt_clml_position *at, unsigned tensor,
                               unsigned slot, size_t *needed) {
    clopt_clml_offload *offload = model->offloaded;
    if (at->state->own[tensor]) {
        return CLOPT_OK;
    }
    if (!offload->larger[slot]) {
        clopt_status status = make_buffer(model, at->graph->tensors[tensor].name, needed[slot],
                                          &offload->larger[slot]);
        if (status != CLOPT_OK) {
            return status;
        }
        offload->info.larger_bytes += needed[slot];
    }
    offload->info.larger_tensors++;
    at->state->own[tensor] = offload->larger[slot];
    at->state->bindings[tensor].memory = offload->larger[slot];
    return CLOPT_OK;
}

static clopt_status make_larger_buffers(clopt_model *model) {
    unsigned slots = model->program->slot_count;
    size_t *needed = calloc(slots ? slots : 1, sizeof *needed);
    if (!needed) {
        return clopt_fail(model, CLOPT_HOST_MEMORY,
                          "There is not enough memory for the sizes of tensors.");
    }
    clopt_status status = for_each_argument(model, note_size, needed);
    if (status == CLOPT_OK) {
        status = for_each_argument(model, use_larger, needed);
    }
    free(needed);
    return status;
}

clopt_status clopt_clml_make_memory(clopt_model *model, const unsigned char *weights) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    const clopt_clml_offload *offload = model->offloaded;
    clopt_status status = CLOPT_OK;
    for (unsigned i = 0; status == CLOPT_OK && i < tables->graph_count; i++) {
        status = ask_sizes(model, &tables->graphs[i], &offload->graphs[i]);
    }
    if (status == CLOPT_OK) {
        status = make_larger_buffers(model);
    }
    for (unsigned i = 0; status == CLOPT_OK && i < tables->graph_count; i++) {
        status = upload_constants(model, &tables->graphs[i], &offload->graphs[i], weights);
    }
    /* Wait here: the weights may be released after creation, and the device may not have read
       them. */
    cl_int error = clFinish(model->queue);
    if (status == CLOPT_OK && error != CL_SUCCESS) {
        status = clopt_fail_opencl(model, "clFinish", "the upload of constants", error);
    }
    return status;
}

void clopt_clml_release_memory(clopt_model *model) {
    const clopt_clml_tables *tables = model->program->offload_tables;
    clopt_clml_offload *offload = model->offloaded;
    for (unsigned i = 0; offload->graphs && i < tables->graph_count; i++) {
        const clopt_clml_graph *graph = &tables->graphs[i];
        cl_mem *own = offload->graphs[i].own;
        for (unsigned j = 0; own && j < graph->tensor_count; j++) {
            if (own[j] && graph->tensors[j].usage == CLOPT_CLML_PARAMETER) {
                clReleaseMemObject(own[j]);
            }
        }
    }
    for (unsigned i = 0; offload->larger && i < model->program->slot_count; i++) {
        if (offload->larger[i]) {
            clReleaseMemObject(offload->larger[i]);
        }
    }
}
