/* Messages: their length in eight bytes, then 8-byte numbers, and texts and bytes with their
   length. */
#define _POSIX_C_SOURCE 200809L /* read, write */

#include "clopt_runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_BYTES = 8, PIECE_BYTES = 1 << 20 };

static const cl_ulong MOST_BYTES = (cl_ulong)1 << 34; /* so that row counts fit an unsigned */

static int read_exactly(int stream, unsigned char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t count = read(stream, data, bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return 0;
        }
        data += count;
        bytes -= (size_t)count;
    }
    return 1;
}

static int write_exactly(int stream, const unsigned char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t count = write(stream, data, bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return 0;
        }
        data += count;
        bytes -= (size_t)count;
    }
    return 1;
}

/* Allocates memory as data arrives, instead of trusting the length that the message announces. */
static int read_in_pieces(int stream, runner_message *message, size_t bytes) {
    size_t room = PIECE_BYTES;
    do {
        room = room < bytes / 2 ? 2 * room : bytes;
        unsigned char *data = realloc(message->data, room ? room : 1);
        if (!data) {
            return 0;
        }
        message->data = data;
        if (!read_exactly(stream, data + message->bytes, room - message->bytes)) {
            return 0;
        }
        message->bytes = room;
    } while (message->bytes < bytes);
    return 1;
}

int runner_receive(int stream, runner_message *message) {
    unsigned char length[NUMBER_BYTES];
    memset(message, 0, sizeof *message);
    if (!read_exactly(stream, length, sizeof length)) {
        return 0;
    }
    cl_ulong bytes = clopt_read_u64(length);
    if (bytes > MOST_BYTES || bytes > (size_t)-1) {
        fprintf(stderr, "clopt_runner: A message has %llu bytes, but the limit is %llu.\n",
                (unsigned long long)bytes, (unsigned long long)MOST_BYTES);
        return 0;
    }
    return read_in_pieces(stream, message, (size_t)bytes);
}

int runner_send(int stream, const runner_answer *answer) {
    unsigned char length[NUMBER_BYTES];
    clopt_write_u64(length, answer->bytes);
    return !answer->is_lost && write_exactly(stream, length, sizeof length) &&
           write_exactly(stream, answer->data, answer->bytes);
}

cl_ulong runner_number(runner_message *message) {
    if (message->bytes - message->at < NUMBER_BYTES) {
        message->is_wrong = 1;
        return 0;
    }
    cl_ulong number = clopt_read_u64(message->data + message->at);
    message->at += NUMBER_BYTES;
    return number;
}

const unsigned char *runner_bytes(runner_message *message, size_t *count) {
    cl_ulong bytes = runner_number(message);
    *count = 0;
    if (message->is_wrong || bytes > message->bytes - message->at) {
        message->is_wrong = 1;
        return NULL;
    }
    const unsigned char *data = message->data + message->at;
    message->at += (size_t)bytes;
    *count = (size_t)bytes;
    return data;
}

const char *runner_text(runner_message *message) {
    size_t count;
    const unsigned char *data = runner_bytes(message, &count);
    if (count == 0 || data[count - 1] != '\0') {
        message->is_wrong = 1;
        return "";
    }
    return (const char *)data;
}

static unsigned char *put(runner_answer *answer, size_t count) {
    if (answer->room - answer->bytes < count) {
        size_t room = answer->bytes + count + answer->room;
        unsigned char *data = realloc(answer->data, room);
        if (!data) {
            answer->is_lost = 1;
            return NULL;
        }
        answer->data = data;
        answer->room = room;
    }
    unsigned char *at = answer->data + answer->bytes;
    answer->bytes += count;
    return at;
}

void runner_put_number(runner_answer *answer, cl_ulong number) {
    unsigned char *at = put(answer, NUMBER_BYTES);
    if (at) {
        clopt_write_u64(at, number);
    }
}

void runner_put_bytes(runner_answer *answer, const void *data, size_t count) {
    runner_put_number(answer, count);
    unsigned char *at = put(answer, count);
    if (at && count) {
        memcpy(at, data, count);
    }
}

void runner_put_text(runner_answer *answer, const char *text) {
    runner_put_bytes(answer, text ? text : "", text ? strlen(text) : 0);
}
