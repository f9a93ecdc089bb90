/* Failures, and everything that has a handle. */
#include "fake_objects.h"

fake_device fake = {"", 0, 0, 0, 0};
int fake_faults;

static long calls, failing;
static char words[TEXT], told[TEXT];
static object *objects;
static object platform = {.kind = PLATFORM, .references = 1};
static object device = {.kind = DEVICE, .references = 1};

/* Failures */

int fake_fails(void) {
    return ++calls == failing;
}

void fake_fault(const char *what) {
    fake_faults++;
    fprintf(stderr, "fault at call %ld: %s\n", calls, what);
}

void fake_tell(const char *word, const char *name) {
    size_t used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s%s%s%s", used ? " " : "", word, *name ? ":" : "",
             name);
}

void fake_fail(long nth) {
    calls = 0;
    failing = nth;
}

long fake_calls(void) {
    return calls;
}

const char *fake_commands(void) {
    memcpy(told, words, sizeof told);
    words[0] = '\0';
    return told;
}

/* The linker lets the program under test call these. */
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes) {
    return fake_fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return fake_fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
    return fake_fails() ? NULL : __real_realloc(old, bytes);
}

/* Objects */

object *fake_make(object_kind kind, object *parent) {
    object *made = __real_calloc(1, sizeof *made);
    made->kind = kind;
    made->references = 1;
    made->parent = parent;
    made->next = objects;
    objects = made;
    if (parent) {
        parent->references++;
    }
    return made;
}

object *fake_live(const void *handle, object_kind kind, const char *call) {
    object *found = (object *)handle;
    if (!found || found->kind != kind || found->references <= 0) {
        fake_fault(call);
        return NULL;
    }
    return found;
}

cl_int fake_retain(const void *handle, object_kind kind, const char *call) {
    object *found = fake_live(handle, kind, call);
    if (!found || fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    found->references++;
    return CL_SUCCESS;
}

/* NVIDIA's driver crashes when a part of a buffer goes before another one inside of it. */
static void check_order(const object *part) {
    for (const object *other = objects; other; other = other->next) {
        if (other->kind == MEMORY && other->references > 0 && other->parent == part->parent &&
            other->offset > part->offset && other->offset < part->offset + part->bytes) {
            fake_fault("a part of a buffer is released before one inside of it");
        }
    }
}

cl_int fake_release(const void *handle, object_kind kind, const char *call) {
    object *found = fake_live(handle, kind, call);
    if (found && --found->references == 0 && found->parent) {
        if (kind == MEMORY) {
            check_order(found);
        }
        fake_release(found->parent, found->parent->kind, call);
    }
    return found ? CL_SUCCESS : CL_INVALID_VALUE;
}

int fake_end(int expected) {
    int references = 0;
    while (objects) {
        object *next = objects->next;
        if (objects->references > 0) {
            references += objects->references;
        }
        if (objects->kind == MEMORY && !objects->parent) {
            free(objects->data);
        }
        free(objects->launches);
        free(objects);
        objects = next;
    }
    fake_recorder = NULL;
    return references - expected + fake_clml_end();
}

cl_platform_id fake_platform_id(void) {
    return (cl_platform_id)&platform;
}

cl_device_id fake_device_id(void) {
    return (cl_device_id)&device;
}

cl_context fake_create_context(void) {
    return (cl_context)fake_make(CONTEXT, NULL);
}

cl_context fake_context(void) {
    object *found = objects;
    while (found && found->kind != CONTEXT) {
        found = found->next;
    }
    return (cl_context)found;
}

cl_command_queue fake_create_queue(void) {
    return (cl_command_queue)fake_make(QUEUE, NULL);
}

object *fake_create(object_kind kind, object *parent, cl_int *error) {
    int failed = fake_fails();
    if (error) {
        *error = failed ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    }
    return failed ? NULL : fake_make(kind, parent);
}

cl_int fake_answer(const void *value, size_t size, size_t bytes, void *result, size_t *needed) {
    if (fake_fails()) {
        return CL_OUT_OF_RESOURCES;
    }
    if (result && bytes < size) {
        fake_fault("too little room for an answer");
        return CL_INVALID_VALUE;
    }
    if (result) {
        memcpy(result, value, size);
    }
    if (needed) {
        *needed = size;
    }
    return CL_SUCCESS;
}
