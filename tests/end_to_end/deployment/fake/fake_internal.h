/* Shared by the parts of the fake OpenCL. */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include "fake_opencl.h"

/* Signatures are those of OpenCL, even where a fake ignores arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Counts a call that a program may see fail, and says whether it does. */
int fake_fails(void);

/* Something is wrong with the program under test. */
void fake_fault(const char *what);

/* The linker has programs under test call others, which may fail. */
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);

/* The bytes of a buffer; a fault and 0 where it is no live one. */
size_t fake_memory_bytes(cl_mem memory, const char *call);

/* A command that is no launch: executed, or recorded where the queue is one that records. */
cl_int fake_command(cl_command_queue queue, const char *word, const char *name, cl_event *event);
cl_int fake_replay(cl_command_queue queue, void *recording);

/* fake_clml.c: its functions by their names, and the handles that are not released. */
void (*fake_clml_function(const char *name))(void);
int fake_clml_end(void);

#endif
