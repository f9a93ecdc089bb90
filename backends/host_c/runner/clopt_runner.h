/* The runner for boards without Python: it runs clopt programs that arrive in messages.

   docs/tuning.md documents the messages. */
#ifndef CLOPT_RUNNER_H
#define CLOPT_RUNNER_H

#include "clopt_internal.h"

#define RUNNER_VERSION 1

/* A received message, which is read from its start. */
typedef struct runner_message {
    unsigned char *data;
    size_t bytes, at;
    int is_wrong; /* a read went past its end, or a number was too large */
} runner_message;

/* A message to send. */
typedef struct runner_answer {
    unsigned char *data;
    size_t bytes, room;
    int is_lost; /* out of memory */
} runner_answer;

/* A program from a message: its tables have their own memory, its texts lie in the message. */
typedef struct runner_program {
    runner_message message;
    clopt_program tables;
    clopt_info info;
    const void *weights;
    size_t weights_bytes;
    void **kept; /* memory that is freed with the program */
    size_t kept_count, kept_room;
} runner_program;

/* runner_message.c */

/* Receives or sends a whole message; returns 0 at the end of the stream. */
int runner_receive(int stream, runner_message *message);
int runner_send(int stream, const runner_answer *answer);

/* Reads the next number, text or bytes of a message; returns 0, "" or NULL past its end. */
cl_ulong runner_number(runner_message *message);
const char *runner_text(runner_message *message);
const unsigned char *runner_bytes(runner_message *message, size_t *count);

void runner_put_number(runner_answer *answer, cl_ulong number);
void runner_put_bytes(runner_answer *answer, const void *data, size_t count);
void runner_put_text(runner_answer *answer, const char *text);

/* runner_program.c */

/* Takes over a message, after its kind; returns NULL, or why it is not a program. */
const char *runner_read_program(runner_program *program, runner_message *message);
void runner_free_program(runner_program *program);

/* runner_check.c */

/* Returns NULL if every row of the tables stays within the rows, bytes and images to which it
 * refers, or else an error message. */
const char *runner_check(const runner_program *program);

/* runner_session.c */

/* Answers messages until the stream ends, on the device whose name or platform contains `words`. */
void runner_serve(int in, int out, const char *words);

#endif
