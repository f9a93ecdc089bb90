/* Programs and kernels: built from source, from binaries of an earlier build, or from the
 * package's own binaries.
 *
 * The payload of a file of binaries has a u64 length per program, followed by that many bytes. */
#include "clopt_internal.h"

#include <stdlib.h>
#include <string.h>

/* Devices without the second option divide correctly anyway, or clopt_check_device rejected
   them. */
static const char *build_options(clopt_model *model) {
    static const char *const options[2][2] = {
        {"-cl-std=CL1.2", "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"},
        {"-cl-std=CL3.0", "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt"},
    };
    unsigned needs = model->program->needs;
    int rounds = needs & CLOPT_NEEDS_ROUNDING && clopt_has_rounding_option(model->device);
    /* OpenCL C 1.2 lacks the functions of the dot-product extension. */
    return options[(needs & CLOPT_NEEDS_DOTS) != 0][rounds];
}

enum { LENGTH_BYTES = 8 };

/* Reports the compiler's log, as far as it fits into a message. */
static clopt_status fail_build(clopt_model *model, cl_program program, cl_int error) {
    size_t bytes = 0;
    char *log = NULL;
    clGetProgramBuildInfo(program, model->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    if (bytes > 0 && (log = calloc(bytes + 1, 1))) {
        clGetProgramBuildInfo(program, model->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    }
    clopt_status status =
        clopt_fail(model, CLOPT_BUILD,
                   "The device's compiler rejects a kernel of %s with error %d; this is a bug of "
                   "clopt, please report it. The compiler says: %s",
                   model->program->info->name, (int)error, log ? log : "nothing");
    free(log);
    return status;
}

static clopt_status build_from_source(clopt_model *model, unsigned index) {
    const clopt_source *source = &model->program->sources[index];
    cl_int error;
    cl_program program = clCreateProgramWithSource(model->context, source->line_count,
                                                   (const char **)source->lines, NULL, &error);
    if (!program) {
        return clopt_fail_opencl(model, "clCreateProgramWithSource", "the kernels", error);
    }
    model->programs[index] = program;
    error = clBuildProgram(program, 1, &model->device, build_options(model), NULL, NULL);
    return error == CL_SUCCESS ? CLOPT_OK : fail_build(model, program, error);
}

static int build_from_binary(clopt_model *model, unsigned index, const unsigned char *binary,
                             size_t bytes, const char *options) {
    cl_int accepted = CL_INVALID_BINARY;
    cl_program program = clCreateProgramWithBinary(model->context, 1, &model->device, &bytes,
                                                   &binary, &accepted, NULL);
    if (!program) {
        return 0;
    }
    if (accepted != CL_SUCCESS ||
        clBuildProgram(program, 1, &model->device, options, NULL, NULL) != CL_SUCCESS) {
        clReleaseProgram(program);
        return 0;
    }
    model->programs[index] = program;
    return 1;
}

static int build_from_binaries(clopt_model *model, const unsigned char *at,
                               const unsigned char *end) {
    for (unsigned i = 0; i < model->program->source_count; i++) {
        if (end - at < LENGTH_BYTES) {
            return 0;
        }
        cl_ulong bytes = clopt_read_u64(at);
        at += LENGTH_BYTES;
        if (bytes > (cl_ulong)(end - at) ||
            !build_from_binary(model, i, at, (size_t)bytes, build_options(model))) {
            return 0;
        }
        at += bytes;
    }
    return 1;
}

clopt_status clopt_build(clopt_model *model, const char *path) {
    clopt_file file = {0};
    size_t start;
    if (path && clopt_open_keyed(model, path, CLOPT_BINARIES, &file, &start)) {
        model->used_binaries =
            build_from_binaries(model, file.data + start, file.data + file.bytes);
        clopt_file_close(&file);
    }
    for (unsigned i = 0; i < model->program->source_count; i++) {
        if (!model->programs[i]) {
            clopt_status status = build_from_source(model, i);
            if (status != CLOPT_OK) {
                return status;
            }
        }
    }
    return CLOPT_OK;
}

/* Returns the path of a program file, malloc'd; NULL if out of memory. */
static char *path_of(const clopt_options *options, const char *file) {
    const char *folder = options->programs_folder;
    folder = folder ? folder : options->weights_path;
    size_t length = strlen(folder);
    if (!options->programs_folder) {
        while (length > 0 && folder[length - 1] != '/' && folder[length - 1] != '\\') {
            length--;
        }
    }
    int is_open = options->programs_folder && length > 0 && folder[length - 1] != '/';
    char *path = malloc(length + strlen(file) + 2);
    if (path) {
        memcpy(path, folder, length);
        path[length] = '/';
        strcpy(path + length + is_open, file);
    }
    return path;
}

static clopt_status load_program(clopt_model *model, const clopt_options *options, unsigned index) {
    const char *name = model->program->program_files[index];
    if (!options->programs_folder && !options->weights_path) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "The weights are in memory, so options.programs_folder must name the "
                          "folder of %s.",
                          name);
    }
    clopt_file file = {0};
    char *path = path_of(options, name);
    if (!path) {
        return clopt_fail(model, CLOPT_HOST_MEMORY,
                          "There is not enough memory for the path of %s.", name);
    }
    clopt_status status = clopt_file_open(model, path, &file);
    if (status == CLOPT_OK) {
        unsigned place = model->program->source_count + index;
        if (file.bytes == 0 || !build_from_binary(model, place, file.data, file.bytes, "")) {
            status = clopt_fail(model, CLOPT_BUILD,
                                "The device rejects the program %s: it was built for another "
                                "device.",
                                path);
        }
        clopt_file_close(&file);
    }
    free(path);
    return status;
}

clopt_status clopt_load_programs(clopt_model *model, const clopt_options *options) {
    clopt_status status = CLOPT_OK;
    for (unsigned i = 0; status == CLOPT_OK && i < model->program->program_file_count; i++) {
        status = load_program(model, options, i);
    }
    return status;
}

unsigned clopt_position(const clopt_command *command, unsigned argument) {
    for (unsigned i = 0; i < command->scalar_count; i++) {
        argument += command->scalars[i].position <= argument;
    }
    return argument;
}

cl_int clopt_set_rows(cl_kernel kernel, const clopt_command *command, unsigned iteration) {
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; error == CL_SUCCESS && i < command->row_count; i++) {
        cl_int index = command->rows[i].start + command->rows[i].step * (cl_int)iteration;
        error = clSetKernelArg(kernel, command->argument_count + command->bound_count + i,
                               sizeof index, &index);
    }
    return error;
}

static cl_int set_scalars(cl_kernel kernel, const clopt_command *command) {
    cl_int error = clopt_set_rows(kernel, command, 0);
    for (unsigned i = 0; error == CL_SUCCESS && i < command->bound_count; i++) {
        error = clSetKernelArg(kernel, command->argument_count + i, sizeof(cl_int),
                               &command->bounds[i]);
    }
    for (unsigned i = 0; error == CL_SUCCESS && i < command->scalar_count; i++) {
        const clopt_scalar *scalar = &command->scalars[i];
        cl_uint narrow = (cl_uint)scalar->value;
        const void *value = scalar->bytes == sizeof narrow ? (const void *)&narrow : &scalar->value;
        error = clSetKernelArg(kernel, scalar->position, scalar->bytes, value);
    }
    return error;
}

/* Checks a kernel of a program file, whose author may have chosen another name or other
   parameters. */
static clopt_status check_given(clopt_model *model, const clopt_command *command,
                                cl_kernel kernel) {
    const clopt_kernel *facts = &model->program->kernels[command->kernel];
    unsigned wanted = command->argument_count + command->scalar_count;
    cl_uint count = 0;
    if (facts->source < model->program->source_count) {
        return CLOPT_OK;
    }
    if (!kernel) {
        return clopt_fail(model, CLOPT_BUILD, "The program %s has no kernel %s.",
                          model->program->program_files[facts->source -
                                                        model->program->source_count],
                          facts->name);
    }
    clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    return count == wanted ? CLOPT_OK
                           : clopt_fail(model, CLOPT_BUILD,
                                        "The kernel %s has %u parameters, but the model passes "
                                        "%u.",
                                        facts->name, (unsigned)count, wanted);
}

clopt_status clopt_make_kernels(clopt_model *model) {
    const clopt_program *program = model->program;
    for (unsigned i = 0; i < program->command_count; i++) {
        const clopt_command *command = &program->commands[i];
        if (command->kind != CLOPT_LAUNCH) {
            continue;
        }
        const clopt_kernel *facts = &program->kernels[command->kernel];
        cl_int error;
        cl_kernel kernel = clCreateKernel(model->programs[facts->source], facts->name, &error);
        model->kernels[i] = kernel;
        clopt_status status = check_given(model, command, kernel);
        if (status != CLOPT_OK) {
            return status;
        }
        if (!kernel) {
            return clopt_fail_opencl(model, "clCreateKernel", facts->name, error);
        }
        error = set_scalars(kernel, command);
        if (error != CL_SUCCESS) {
            return clopt_fail_opencl(model, "clSetKernelArg", facts->name, error);
        }
    }
    return CLOPT_OK;
}

/* Returns the binary of a program after its length, malloc'd; NULL if the driver has none. */
static unsigned char *read_binary(cl_program program, size_t *bytes) {
    size_t length = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL) !=
            CL_SUCCESS ||
        length == 0) {
        return NULL;
    }
    unsigned char *data = malloc(LENGTH_BYTES + length);
    if (!data) {
        return NULL;
    }
    unsigned char *binary = data + LENGTH_BYTES;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) !=
        CL_SUCCESS) {
        free(data);
        return NULL;
    }
    clopt_write_u64(data, length);
    *bytes = LENGTH_BYTES + length;
    return data;
}

/* Returns all binaries, malloc'd; NULL if they are not available. */
static unsigned char *collect_binaries(const clopt_model *model, size_t *total) {
    unsigned char *content = malloc(1);
    *total = 0;
    for (unsigned i = 0; content && i < model->program->source_count; i++) {
        size_t bytes = 0;
        unsigned char *binary = read_binary(model->programs[i], &bytes);
        unsigned char *longer = binary ? realloc(content, *total + bytes) : NULL;
        if (!longer) {
            free(binary);
            free(content);
            return NULL;
        }
        content = longer;
        memcpy(content + *total, binary, bytes);
        free(binary);
        *total += bytes;
    }
    return content;
}

clopt_status clopt_save_binaries(clopt_model *model, const char *path) {
    if (!model) {
        return CLOPT_ARGUMENT;
    }
    if (!path) {
        return clopt_fail(model, CLOPT_ARGUMENT, "The path for the binaries is a null pointer.");
    }
    size_t bytes;
    unsigned char *content = collect_binaries(model, &bytes);
    if (!content) {
        return clopt_fail(model, CLOPT_OPENCL,
                          "The driver does not provide the kernels' binaries.");
    }
    clopt_status status = clopt_write_keyed(model, path, CLOPT_BINARIES, content, bytes);
    free(content);
    return status;
}
