/* What was refused and why, and what was done. */
#include "reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 2048

static char message[MESSAGE_BYTES];

const char *CL_API_CALL clmlReferenceMessage(void) { return message; }

/* Adds a line to CLML_REFERENCE_LOG: a file, or "stderr". */
static void write_line(const char *line) {
    const char *path = getenv("CLML_REFERENCE_LOG");
    if (!path || !*path) {
        return;
    }
    FILE *file = strcmp(path, "stderr") ? fopen(path, "a") : stderr;
    if (file) {
        fprintf(file, "%s\n", line);
        if (file != stderr) {
            fclose(file);
        }
    }
}

cl_int clml_refuse(const char *function, cl_int error, const char *format, ...) {
    clml_lock();
    char text[MESSAGE_BYTES]; /* arguments may point into the message before */
    size_t used = (size_t)snprintf(text, sizeof text, "%s: ", function);
    va_list rest;
    va_start(rest, format);
    vsnprintf(text + used, sizeof text - used, format, rest);
    va_end(rest);
    used = strlen(text);
    snprintf(text + used, sizeof text - used, " (error %d)", (int)error);
    memcpy(message, text, sizeof message);
    write_line(message);
    clml_unlock();
    return error;
}

void clml_trace(const char *function, const char *format, ...) {
    const char *level = getenv("CLML_REFERENCE_LOG_LEVEL");
    if (!level || atoi(level) < 1) {
        return;
    }
    clml_lock();
    char line[512];
    size_t used = (size_t)snprintf(line, sizeof line, "- %s: ", function);
    va_list rest;
    va_start(rest, format);
    vsnprintf(line + used, sizeof line - used, format, rest);
    va_end(rest);
    write_line(line);
    clml_unlock();
}
