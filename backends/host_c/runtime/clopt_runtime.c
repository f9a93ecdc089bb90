/* Models: creation and queries. */
#include "clopt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Creation */

/* Allocates zeroed memory; calloc may return NULL for an empty array. */
static void *allocate(size_t count, size_t bytes) {
    return calloc(count ? count : 1, bytes);
}

static clopt_status allocate_tables(clopt_model *model) {
    const clopt_program *program = model->program;
    size_t tensors = clopt_tensor_count(program->info);
    size_t programs = (size_t)program->source_count + program->program_file_count;
    model->programs = allocate(programs, sizeof *model->programs);
    model->kernels = allocate(program->command_count, sizeof *model->kernels);
    model->roots = allocate(program->root_count, sizeof *model->roots);
    model->places = allocate(program->slot_count, sizeof *model->places);
    model->staging = allocate(tensors, sizeof *model->staging);
    model->hosts = allocate(tensors, sizeof *model->hosts);
    model->given = allocate(tensors, sizeof *model->given);
    model->staged = allocate(tensors, sizeof *model->staged);
    if (!model->programs || !model->kernels || !model->roots || !model->places ||
        !model->staging || !model->hosts || !model->given || !model->staged) {
        return clopt_fail(model, CLOPT_HOST_MEMORY,
                          "There is not enough memory for the model's tables.");
    }
    clopt_find_staged(model);
    return CLOPT_OK;
}

static clopt_status take_options(clopt_model *model, const clopt_options *options) {
    cl_uint bits = 0;
    cl_ulong bytes = 0;
    if (!options->context || !options->device || !options->queue) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "The options lack a context, a device or a queue.");
    }
    if (!options->weights_path && !options->weights) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "The options have no weights; set weights or weights_path.");
    }
    cl_int error = clRetainContext(options->context);
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clRetainContext", "the given context", error);
    }
    model->context = options->context;
    error = clRetainCommandQueue(options->queue);
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clRetainCommandQueue", "the given queue", error);
    }
    model->queue = options->queue;
    model->device = options->device; /* lives as long as the context */
    error = clGetDeviceInfo(model->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    if (error == CL_SUCCESS) {
        error = clGetDeviceInfo(model->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes,
                                NULL);
    }
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetDeviceInfo", "the given device", error);
    }
    model->base_alignment = bits >= 8 ? bits / 8 : 1;
    model->max_allocation = bytes > (size_t)-1 ? (size_t)-1 : (size_t)bytes;
    return CLOPT_OK;
}

/* Creates the offload's operations, using a tuning file if there is one. */
static clopt_status create_offload(clopt_model *model, const clopt_options *options,
                                   const unsigned char *weights) {
    const clopt_offload *offload = model->program->offload;
    const char *path = options->tuning_path;
    clopt_file tuning = {0};
    size_t start = 0;
    if (!offload) {
        return CLOPT_OK;
    }
    int is_tuned = path && clopt_open_keyed(model, path, CLOPT_TUNING, &tuning, &start);
    clopt_status status = offload->create(model, options->offload_version, weights,
                                          is_tuned ? tuning.data + start : NULL,
                                          is_tuned ? tuning.bytes - start : 0);
    if (is_tuned) {
        clopt_file_close(&tuning);
    }
    model->is_refused = status != CLOPT_OK;
    return status;
}

/* The offload is created before constants are uploaded, because the device may reject it. */
static clopt_status upload_constants(clopt_model *model, const clopt_options *options,
                                     const clopt_file *file) {
    const clopt_program *program = model->program;
    clopt_status status = clopt_check_weights(model, file);
    if (status == CLOPT_OK) {
        status = create_offload(model, options, file->data);
    }
    for (unsigned i = 0; status == CLOPT_OK && i < program->root_count; i++) {
        const clopt_root *root = &program->roots[i];
        if (root->kind == CLOPT_CONSTANT) {
            const void *data = root->bytes ? file->data + root->weights_offset : NULL;
            status = clopt_make_root(model, i, data);
        }
    }
    return status;
}

static clopt_status load_weights(clopt_model *model, const clopt_options *options) {
    clopt_file file = {0};
    if (options->weights) {
        file.data = options->weights;
        file.bytes = options->weights_bytes;
        return upload_constants(model, options, &file);
    }
    clopt_status status = clopt_file_open(model, options->weights_path, &file);
    if (status == CLOPT_OK) {
        status = upload_constants(model, options, &file);
        clopt_file_close(&file);
    }
    return status;
}

/* Tensors without elements need no buffer from the caller. */
static clopt_status make_empty_tensors(clopt_model *model) {
    const clopt_info *info = model->program->info;
    clopt_status status = CLOPT_OK;
    for (unsigned i = 0; status == CLOPT_OK && i < clopt_tensor_count(info); i++) {
        if (info->tensors[i].bytes == 0) {
            status = clopt_make_root(model, i, NULL);
        }
    }
    return status;
}

static clopt_status set_up(clopt_model *model, const clopt_options *options) {
    const clopt_program *program = model->program;
    if (program->left_out) {
        return clopt_fail(model, CLOPT_DEVICE, "%s was built without %s.", program->info->name,
                          program->left_out);
    }
    clopt_status status = allocate_tables(model);
    if (status == CLOPT_OK) {
        status = take_options(model, options);
    }
    if (status == CLOPT_OK) {
        status = clopt_check_queue(model);
    }
    if (status == CLOPT_OK) {
        status = clopt_check_device(model);
    }
    if (status == CLOPT_OK) {
        status = load_weights(model, options);
    }
    if (status == CLOPT_OK) {
        status = clopt_load_programs(model, options); /* fails faster than compiling kernels */
    }
    if (status == CLOPT_OK) {
        status = clopt_build(model, options->binaries_path);
    }
    if (status == CLOPT_OK) {
        status = clopt_make_kernels(model);
    }
    if (status == CLOPT_OK) {
        status = make_empty_tensors(model);
    }
    if (status == CLOPT_OK) {
        model->views = clopt_working_views(model);
        status = clopt_set_arena(model, options->arenas, options->arena_count);
    }
    if (status == CLOPT_OK && options->replay) {
        status = clopt_start_replay(model);
    }
    return status;
}

/* Release */

static void release_memories(cl_mem *memories, size_t count) {
    for (size_t i = 0; memories && i < count; i++) {
        if (memories[i]) {
            clReleaseMemObject(memories[i]);
        }
    }
}

/* Releases everything but the model itself. */
static void clear(clopt_model *model) {
    const clopt_program *program = model->program;
    clopt_end_replay(model);
    if (program->offload) {
        program->offload->destroy(model);
    }
    for (unsigned i = 0; model->kernels && i < program->command_count; i++) {
        if (model->kernels[i]) {
            clReleaseKernel(model->kernels[i]);
        }
    }
    unsigned programs = program->source_count + program->program_file_count;
    for (unsigned i = 0; model->programs && i < programs; i++) {
        if (model->programs[i]) {
            clReleaseProgram(model->programs[i]);
        }
    }
    if (model->places) {
        clopt_release_places(model, CLOPT_ALL_ROOTS);
    }
    release_memories(model->roots, program->root_count);
    release_memories(model->staging, clopt_tensor_count(program->info));
    release_memories(model->given, clopt_tensor_count(program->info));
    if (model->queue) {
        clReleaseCommandQueue(model->queue);
    }
    if (model->context) {
        clReleaseContext(model->context);
    }
    free(model->programs);
    free(model->kernels);
    free(model->roots);
    free(model->places);
    free(model->staging);
    free(model->hosts);
    free(model->given);
    free(model->staged);
}

void clopt_destroy(clopt_model *model) {
    if (model) {
        clear(model);
        free(model);
    }
}

/* Plans */

const char *clopt_plan_name(const clopt_program *program) {
    if (program->left_out) {
        return program->left_out;
    }
    return program->offload ? program->offload->library : "kernels";
}

/* Returns whether the device, and not the caller, is the reason that a plan cannot be created. */
static int cannot_run(const clopt_model *model, clopt_status status) {
    return status == CLOPT_DEVICE || model->is_refused;
}

/* Writes that the package has no plan `wanted`, and which plans it has. */
static void refuse_plan(const clopt_program *package, const char *wanted, char *message,
                        size_t bytes) {
    size_t used = (size_t)snprintf(message, bytes, "%s has no plan called %s; it has",
                                   package->info->name, wanted ? wanted : "");
    for (const clopt_program *plan = package; plan && used < bytes; plan = plan->otherwise) {
        const char *before = plan == package ? " " : " and ";
        used += (size_t)snprintf(message + used, bytes - used, "%s%s%s", before,
                                 clopt_plan_name(plan), plan->otherwise ? "" : ".");
    }
}

/* Fills `model` with the first plan that the device can run, or with the plan in the options.
 * After a failure it holds a message, and perhaps partly created objects. */
static clopt_status create_plan(const clopt_program *package, const clopt_options *options,
                                clopt_model *model) {
    const char *wanted = options->plan;
    clopt_status status = CLOPT_ARGUMENT;
    clopt_model empty;
    memset(&empty, 0, sizeof empty);
    refuse_plan(package, wanted, empty.message, sizeof empty.message);
    *model = empty;
    model->program = model->package = package;
    for (const clopt_program *plan = package; plan; plan = plan->otherwise) {
        if (wanted && strcmp(wanted, clopt_plan_name(plan)) != 0) {
            snprintf(empty.reason, sizeof empty.reason, "The options ask for the plan %s.", wanted);
            continue;
        }
        *model = empty;
        model->program = plan;
        model->package = package;
        status = set_up(model, options);
        if (status == CLOPT_OK || wanted || !plan->otherwise || !cannot_run(model, status)) {
            break;
        }
        memcpy(empty.reason, model->message, sizeof empty.reason);
        clear(model);
    }
    return status;
}

static void tell(char *message, size_t message_bytes, const char *text) {
    if (message && message_bytes > 0) {
        snprintf(message, message_bytes, "%s", text);
    }
}

clopt_status clopt_create(const clopt_program *program, const clopt_options *options,
                          clopt_model **model, char *message, size_t message_bytes) {
    tell(message, message_bytes, "");
    if (model) {
        *model = NULL;
    }
    if (!program || !options || !model) {
        tell(message, message_bytes, "The program, the options or the model is a null pointer.");
        return CLOPT_ARGUMENT;
    }
    clopt_model *made = allocate(1, sizeof *made);
    if (!made) {
        tell(message, message_bytes, "There is not enough memory for the model.");
        return CLOPT_HOST_MEMORY;
    }
    clopt_status status = create_plan(program, options, made);
    if (status != CLOPT_OK) {
        tell(message, message_bytes, made->message);
        clear(made);
        free(made);
        return status;
    }
    *model = made;
    return CLOPT_OK;
}

/* Queries */

const clopt_info *clopt_model_info(const clopt_model *model) {
    return model ? model->program->info : NULL;
}

const char *clopt_model_plan(const clopt_model *model, const char **reason) {
    if (reason) {
        *reason = model && *model->reason ? model->reason : NULL;
    }
    return model ? clopt_plan_name(model->program) : NULL;
}

clopt_image_views clopt_model_image_views(const clopt_model *model) {
    unsigned needed = model ? clopt_needed_views(model->program) : 0;
    if (!needed) {
        return CLOPT_NO_IMAGE_VIEWS;
    }
    return (needed & ~model->views) ? CLOPT_IMAGE_OBJECTS : CLOPT_IMAGES_FROM_BUFFER;
}

int clopt_model_used_binaries(const clopt_model *model) {
    return model ? model->used_binaries : 0;
}

size_t clopt_model_device_bytes(const clopt_model *model) {
    size_t bytes = 0;
    for (unsigned i = 0; model && i < model->program->root_count; i++) {
        const clopt_root *root = &model->program->roots[i];
        bytes += model->roots[i] && root->kind != CLOPT_PARAMETER ? root->bytes : 0;
    }
    clopt_offload_info offload = clopt_model_offload(model);
    return bytes + offload.larger_bytes + offload.constant_bytes;
}

clopt_offload_info clopt_model_offload(const clopt_model *model) {
    clopt_offload_info info;
    memset(&info, 0, sizeof info);
    if (model && model->program->offload) {
        model->program->offload->describe(model, &info);
    }
    return info;
}

int clopt_find_tensor(const clopt_info *info, const char *name) {
    for (size_t i = 0; info && name && i < clopt_tensor_count(info); i++) {
        if (strcmp(info->tensors[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}
