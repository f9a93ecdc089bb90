/* Handles, and the commands that the fake's parts put on queues. */
#ifndef FAKE_OBJECTS_H
#define FAKE_OBJECTS_H

#define CL_ENABLE_BETA_EXTENSIONS
#include "fake_internal.h"

#include <CL/cl_ext.h>
#include <CL/cl_ext_qcom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 16, MOST_LAUNCHES = 16, BASE_ALIGNMENT = 128, TEXT = 4096 };

typedef enum object_kind {
    PLATFORM,
    DEVICE,
    CONTEXT,
    QUEUE,
    MEMORY,
    PROGRAM,
    KERNEL,
    EVENT,
    RECORDING
} object_kind;

typedef struct argument {
    size_t bytes;
    unsigned char value[8];
} argument;

/* A kernel with the arguments of the time. */
typedef struct launch {
    struct object *kernel; /* NULL: another command, by its name */
    char name[32];
    argument arguments[MOST_ARGUMENTS];
} launch;

/* Anything that has a handle. It stays in memory when it is released, to be recognised. */
typedef struct object {
    object_kind kind;
    int references;
    struct object *parent; /* it holds a reference to this one */
    struct object *next;   /* older */
    cl_mem_object_type type;
    cl_mem_flags flags;
    cl_command_queue_properties properties;
    size_t offset, bytes, extents[3];
    cl_image_format format; /* of an image */
    unsigned char *data; /* of memory; its own without a parent */
    char name[32];
    launch state; /* of a kernel */
    launch *launches;
    int launch_count, is_ended;
} object;

/* fake_objects.c */

/* Adds what a command does to fake_commands. */
void fake_tell(const char *word, const char *name);

/* A new object; with the error where calls take one, and NULL where the call fails. */
object *fake_make(object_kind kind, object *parent);
object *fake_create(object_kind kind, object *parent, cl_int *error);

/* The object of a handle; a fault and NULL where it is none of that kind, or released. */
object *fake_live(const void *handle, object_kind kind, const char *call);
cl_int fake_retain(const void *handle, object_kind kind, const char *call);
cl_int fake_release(const void *handle, object_kind kind, const char *call);

#define RETAIN(call, type, kind) \
    cl_int CL_API_CALL call(type handle) { \
        return fake_retain(handle, kind, #call); \
    }
#define RELEASE(call, type, kind) \
    cl_int CL_API_CALL call(type handle) { \
        return fake_release(handle, kind, #call); \
    }

cl_platform_id fake_platform_id(void);

/* The youngest context. */
cl_context fake_context(void);

/* The answer to a query, if the query is legal and has room for it. */
cl_int fake_answer(const void *value, size_t size, size_t bytes, void *result, size_t *needed);

#define ANSWER(type, value) \
    fake_answer(&(type){value}, sizeof(type), bytes, result, needed)
#define ANSWER_TEXT(text) fake_answer(text, strlen(text) + 1, bytes, result, needed)

/* fake_commands.c */

/* The recording that has begun on a recordable queue. */
extern object *fake_recorder;

/* The kernel with its arguments, which are checked as its range is. */
const launch *fake_checked_launch(cl_kernel kernel, cl_uint dimensions, const size_t *global,
                                  const size_t *local, const char *call);
cl_int fake_record(object *recording, const launch *what);
cl_int fake_replay_recording(const object *recording);

#endif
