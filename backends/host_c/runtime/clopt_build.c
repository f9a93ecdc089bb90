/* Programs and kernels: from source, or from the binaries of an earlier build.
 *
 * A file of binaries, numbers little-endian:
 *
 *   0  "CLOPTBIN"
 *   8  u32 CRC-32 of everything from byte 16 on
 *  12  u32 bytes of the key
 *  16  the key: the model's digest, then what platform, device and driver say of themselves
 *      for each program: u64 bytes, and as many bytes
 */
#include "clopt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const BUILD_OPTIONS = "-cl-std=CL1.2";

enum { PREFIX_BYTES = 16, LENGTH_BYTES = 8 };

/* Reports what the compiler says, as far as it fits into a message. */
static clopt_status fail_build(clopt_model *model, cl_program program, cl_int error) {
    size_t bytes = 0;
    char *log = NULL;
    clGetProgramBuildInfo(program, model->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    if (bytes > 0 && (log = calloc(bytes + 1, 1))) {
        clGetProgramBuildInfo(program, model->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    }
    clopt_status status =
        clopt_fail(model, CLOPT_BUILD,
                   "The device's compiler refuses a kernel of %s with error %d; this is a bug of "
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
    error = clBuildProgram(program, 1, &model->device, BUILD_OPTIONS, NULL, NULL);
    return error == CL_SUCCESS ? CLOPT_OK : fail_build(model, program, error);
}

static int build_from_binary(clopt_model *model, unsigned index, const unsigned char *binary,
                             size_t bytes) {
    cl_int accepted = CL_INVALID_BINARY;
    cl_program program = clCreateProgramWithBinary(model->context, 1, &model->device, &bytes,
                                                   &binary, &accepted, NULL);
    if (!program) {
        return 0;
    }
    if (accepted != CL_SUCCESS ||
        clBuildProgram(program, 1, &model->device, BUILD_OPTIONS, NULL, NULL) != CL_SUCCESS) {
        clReleaseProgram(program);
        return 0;
    }
    model->programs[index] = program;
    return 1;
}

/* Everything that binaries depend on, malloc'd; NULL when out of memory. */
static unsigned char *make_key(const clopt_model *model, size_t *bytes) {
    char *texts[] = {
        clopt_platform_text(model->device, CL_PLATFORM_NAME),
        clopt_platform_text(model->device, CL_PLATFORM_VERSION),
        clopt_device_text(model->device, CL_DEVICE_NAME),
        clopt_device_text(model->device, CL_DEVICE_VERSION),
        clopt_device_text(model->device, CL_DRIVER_VERSION),
    };
    const size_t count = sizeof texts / sizeof *texts;
    unsigned char *key = NULL;
    int complete = 1;
    *bytes = CLOPT_DIGEST_BYTES;
    for (size_t i = 0; i < count; i++) {
        complete = complete && texts[i];
        *bytes += texts[i] ? strlen(texts[i]) + 1 : 0;
    }
    if (complete && (key = malloc(*bytes))) {
        unsigned char *end = key + CLOPT_DIGEST_BYTES;
        memcpy(key, model->program->digest, CLOPT_DIGEST_BYTES);
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(texts[i]) + 1;
            memcpy(end, texts[i], length);
            end += length;
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(texts[i]);
    }
    return key;
}

/* Whether `file` is whole and was made for this model by this driver. */
static int is_ours(const clopt_model *model, const clopt_file *file) {
    size_t bytes;
    unsigned char *key = make_key(model, &bytes);
    int ours = key && file->bytes >= PREFIX_BYTES + bytes &&
               memcmp(file->data, "CLOPTBIN", 8) == 0 &&
               clopt_read_u32(file->data + 12) == bytes &&
               memcmp(file->data + PREFIX_BYTES, key, bytes) == 0 &&
               clopt_read_u32(file->data + 8) ==
                   clopt_crc32(file->data + PREFIX_BYTES, file->bytes - PREFIX_BYTES);
    free(key);
    return ours;
}

static int build_from_binaries(clopt_model *model, const clopt_file *file) {
    if (!is_ours(model, file)) {
        return 0;
    }
    const unsigned char *at = file->data + PREFIX_BYTES + clopt_read_u32(file->data + 12);
    const unsigned char *end = file->data + file->bytes;
    for (unsigned i = 0; i < model->program->source_count; i++) {
        if (end - at < LENGTH_BYTES) {
            return 0;
        }
        cl_ulong bytes = clopt_read_u64(at);
        at += LENGTH_BYTES;
        if (bytes > (cl_ulong)(end - at) || !build_from_binary(model, i, at, (size_t)bytes)) {
            return 0;
        }
        at += bytes;
    }
    return 1;
}

clopt_status clopt_build(clopt_model *model, const char *path) {
    clopt_file file = {0};
    if (path && clopt_file_open(model, path, &file) == CLOPT_OK) {
        model->used_binaries = build_from_binaries(model, &file);
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
        if (!kernel) {
            return clopt_fail_opencl(model, "clCreateKernel", facts->name, error);
        }
        model->kernels[i] = kernel;
        for (unsigned j = 0; j < command->bound_count; j++) {
            error = clSetKernelArg(kernel, command->argument_count + j, sizeof(cl_int),
                                   &command->bounds[j]);
            if (error != CL_SUCCESS) {
                return clopt_fail_opencl(model, "clSetKernelArg", facts->name, error);
            }
        }
    }
    return CLOPT_OK;
}

/* The binary of a program with its length before it, malloc'd; NULL where the driver has none. */
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

/* All that a file of binaries holds, malloc'd; NULL where it cannot be had. */
static unsigned char *collect_binaries(const clopt_model *model, size_t *total) {
    size_t key_bytes;
    unsigned char *key = make_key(model, &key_bytes);
    unsigned char *content = key ? malloc(PREFIX_BYTES + key_bytes) : NULL;
    if (!content) {
        free(key);
        return NULL;
    }
    memcpy(content + PREFIX_BYTES, key, key_bytes);
    free(key);
    *total = PREFIX_BYTES + key_bytes;
    for (unsigned i = 0; i < model->program->source_count; i++) {
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
    memcpy(content, "CLOPTBIN", 8);
    clopt_write_u32(content + 8, clopt_crc32(content + PREFIX_BYTES, *total - PREFIX_BYTES));
    clopt_write_u32(content + 12, (cl_uint)key_bytes);
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
        return clopt_fail(model, CLOPT_OPENCL, "The driver does not give the kernels' binaries.");
    }
    FILE *stream = fopen(path, "wb");
    int written = stream && fwrite(content, 1, bytes, stream) == bytes;
    free(content);
    if (stream && fclose(stream) != 0) {
        written = 0;
    }
    if (!written) {
        if (stream) {
            remove(path);
        }
        return clopt_fail(model, CLOPT_FILE, "Cannot write the binaries to %s.", path);
    }
    return CLOPT_OK;
}
