/* Handles, references and the lock. */
#define _XOPEN_SOURCE 600 /* recursive mutexes */
#include "reference.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_lock(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

void clml_lock(void) {
    pthread_once(&once, make_lock);
    pthread_mutex_lock(&lock);
}

void clml_unlock(void) { pthread_mutex_unlock(&lock); }

/* No two handles are closer than STEP, so that none is another's address plus a little. */
#define FIRST 0x434C4D10
#define STEP 16

/* Objects with a live handle. Handles grow, so the table is sorted by them. */
static struct {
    size_t count, capacity;
    clml_object **objects;
    size_t next; /* handle */
} live = {0, 0, NULL, FIRST};

void *clml_new(clml_kind kind, size_t bytes, void (*destroy)(clml_object *)) {
    clml_object *object = calloc(1, bytes);
    if (object) {
        object->kind = kind;
        object->references = 1;
        object->destroy = destroy;
    }
    return object;
}

void clml_retain(void *object) { ((clml_object *)object)->references++; }

void clml_drop(void *object) {
    clml_object *dropped = object;
    if (dropped && --dropped->references == 0) {
        dropped->destroy(dropped);
    }
}

void *clml_publish(void *object) {
    clml_object *published = object;
    if (live.count == live.capacity) {
        size_t capacity = live.capacity ? 2 * live.capacity : 64;
        clml_object **objects = realloc(live.objects, capacity * sizeof *objects);
        if (!objects) {
            return NULL;
        }
        live.objects = objects;
        live.capacity = capacity;
    }
    published->handle = live.next;
    live.next += STEP;
    live.objects[live.count++] = published;
    return (void *)published->handle;
}

/* The place of a handle in the table, or live.count. */
static size_t place_of(const void *handle) {
    size_t wanted = (size_t)handle, first = 0, end = live.count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (live.objects[middle]->handle < wanted) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < live.count && live.objects[first]->handle == wanted ? first : live.count;
}

static const char *const kind_names[] = {"tensor", "operation", "set of tensor memories",
                                         "tuning cache", "recording"};

void *clml_find(const char *function, clml_kind kind, const void *handle) {
    size_t place = place_of(handle);
    const char *name = kind_names[kind];
    if (!handle) {
        clml_refuse(function, CL_INVALID_VALUE, "the %s is NULL", name);
    } else if (place == live.count) {
        size_t number = (size_t)handle;
        int once_was = number >= FIRST && number < live.next && number % STEP == 0;
        clml_refuse(function, CL_INVALID_VALUE, "the %s %s", name,
                    once_was ? "was released" : "is no handle of this library");
    } else if (live.objects[place]->kind != kind) {
        clml_refuse(function, CL_INVALID_VALUE, "a %s was given where a %s belongs",
                    kind_names[live.objects[place]->kind], name);
    } else {
        return live.objects[place];
    }
    return NULL;
}

cl_int clml_release(const char *function, clml_kind kind, const void *handle) {
    clml_object *object = clml_find(function, kind, handle);
    if (!object) {
        return CL_INVALID_VALUE;
    }
    size_t place = place_of(handle);
    live.count--;
    for (size_t i = place; i < live.count; i++) {
        live.objects[i] = live.objects[i + 1];
    }
    if (!live.count) {
        free(live.objects);
        live.objects = NULL;
        live.capacity = 0;
    }
    clml_trace(function, "released a %s", kind_names[kind]);
    object->released = 1;
    clml_drop(object);
    return CL_SUCCESS;
}

cl_uint CL_API_CALL clmlReferenceLiveHandles(void) {
    clml_lock();
    cl_uint count = (cl_uint)live.count;
    clml_unlock();
    return count;
}
