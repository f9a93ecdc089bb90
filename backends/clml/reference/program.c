/* Programs: one per text and options, kept per context as long as an object lives in that. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program {
    struct program *next;
    const char *source;
    char *options;
    cl_program program;
} program;

struct clml_context {
    clml_context *next;
    cl_uint references;
    cl_context context;
    program *programs;
};

static clml_context *contexts;

clml_context *clml_find_context(const char *function, cl_context context) {
    if (!context) {
        clml_refuse(function, CL_INVALID_CONTEXT, "the context is NULL");
        return NULL;
    }
    for (clml_context *found = contexts; found; found = found->next) {
        if (found->context == context) {
            found->references++;
            return found;
        }
    }
    clml_context *made = calloc(1, sizeof *made);
    if (!made) {
        clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
        return NULL;
    }
    if (clRetainContext(context) != CL_SUCCESS) {
        clml_refuse(function, CL_INVALID_CONTEXT, "the context is none");
        free(made);
        return NULL;
    }
    made->context = context;
    made->references = 1;
    made->next = contexts;
    contexts = made;
    return made;
}

void clml_retain_context(clml_context *context) { context->references++; }

void clml_drop_context(clml_context *context) {
    if (!context || --context->references) {
        return;
    }
    for (program *each = context->programs, *next; each; each = next) {
        next = each->next;
        clReleaseProgram(each->program);
        free(each->options);
        free(each);
    }
    clml_context **link = &contexts;
    while (*link != context) {
        link = &(*link)->next;
    }
    *link = context->next;
    clReleaseContext(context->context);
    free(context);
}

cl_context clml_context_of(const clml_context *context) { return context->context; }

/* Says what the compiler of the context's first device said. */
static void refuse_build(const char *function, cl_program built, cl_int error) {
    cl_device_id device = NULL;
    size_t bytes = 0;
    clGetProgramInfo(built, CL_PROGRAM_DEVICES, sizeof device, &device, NULL);
    clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = calloc(1, bytes + 1);
    if (log) {
        clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    }
    clml_refuse(function, error, "the device's compiler refuses a kernel: %s", log ? log : "");
    free(log);
}

static cl_program build(const char *function, cl_context context, const char *source,
                        const char *options) {
    const char *texts[] = {clml_kernel_text, source};
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 2, texts, NULL, &error);
    if (!made) {
        clml_refuse(function, error, "clCreateProgramWithSource failed");
        return NULL;
    }
    error = clBuildProgram(made, 0, NULL, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        refuse_build(function, made, error);
        clReleaseProgram(made);
        return NULL;
    }
    return made;
}

static program *find_program(const char *function, clml_context *context, const char *source,
                             const char *options) {
    for (program *each = context->programs; each; each = each->next) {
        if (each->source == source && !strcmp(each->options, options)) {
            return each;
        }
    }
    program *made = calloc(1, sizeof *made);
    char *kept = malloc(strlen(options) + 1);
    if (!made || !kept) {
        clml_refuse(function, CL_OUT_OF_HOST_MEMORY, "out of memory");
    } else if ((made->program = build(function, context->context, source, options)) != NULL) {
        made->source = source;
        made->options = strcpy(kept, options);
        made->next = context->programs;
        context->programs = made;
        clml_trace(function, "built a program with %s", options);
        return made;
    }
    free(made);
    free(kept);
    return NULL;
}

cl_kernel clml_kernel(const char *function, clml_context *context, const char *source,
                      const char *name, const char *options) {
    program *found = find_program(function, context, source, options);
    if (!found) {
        return NULL;
    }
    cl_int error;
    cl_kernel kernel = clCreateKernel(found->program, name, &error);
    if (!kernel) {
        clml_refuse(function, error, "there is no kernel %s", name);
    }
    return kernel;
}
