/* Runs programs that a host sends over stdin and stdout, or over TCP. */
#define _POSIX_C_SOURCE 200809L /* sockets */

#include "clopt_runner.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORT = 65535, MOST_FAILURES = 20 };

static const char *const USAGE =
    "usage: clopt_runner [options]\n"
    "\n"
    "Reads messages on stdin and answers on stdout, until stdin ends.\n"
    "  --device TEXT    part of the name of a platform or device (default: the first)\n"
    "  --port N         accept connections on this port, one at a time, instead\n"
    "  --address A      listen on this network address (default: 127.0.0.1)\n";

typedef struct arguments {
    const char *device, *port, *address;
} arguments;

static int parse(int count, char **words, arguments *result) {
    const struct {
        const char *word;
        const char **text;
    } rows[] = {
        {"--device", &result->device}, {"--port", &result->port}, {"--address", &result->address}};
    result->device = "";
    result->port = NULL;
    result->address = "127.0.0.1";
    for (int i = 1; i < count; i += 2) {
        size_t row = 0;
        while (row < sizeof rows / sizeof *rows && strcmp(rows[row].word, words[i]) != 0) {
            row++;
        }
        if (row == sizeof rows / sizeof *rows || i + 1 == count) {
            return 0;
        }
        *rows[row].text = words[i + 1];
    }
    return 1;
}

/* Reads the address and the port; returns 0 after printing what is wrong with them. */
static int find_place(const arguments *given, struct sockaddr_in *place) {
    char *end = NULL;
    long port = strtol(given->port, &end, 10);
    memset(place, 0, sizeof *place);
    if (end == given->port || *end || port < 1 || port > MOST_PORT) {
        fprintf(stderr, "clopt_runner: --port needs a number from 1 to %d, got %s.\n", MOST_PORT,
                given->port);
        return 0;
    }
    place->sin_family = AF_INET;
    place->sin_port = htons((unsigned short)port);
    if (inet_pton(AF_INET, given->address, &place->sin_addr) != 1) {
        fprintf(stderr, "clopt_runner: --address needs an IPv4 address, got %s.\n", given->address);
        return 0;
    }
    return 1;
}

static int listen_at(const struct sockaddr_in *place) {
    int on = 1;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    if (door >= 0) {
        setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (door >= 0 && (bind(door, (const struct sockaddr *)place, sizeof *place) != 0 ||
                      listen(door, 1) != 0)) {
        close(door);
        return -1;
    }
    return door;
}

/* Returns the next connection, or -1 if none can be accepted. It retries, because a connection
 * may end early, and because descriptors or memory may become available after a pause. */
static int accept_next(int door) {
    const struct timespec pause = {0, 100000000};
    for (int i = 0; i < MOST_FAILURES; i++) {
        int stream = accept(door, NULL, NULL);
        if (stream >= 0) {
            return stream;
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}

/* Serves each connection in a process of its own, which the next connection ends: a kernel that
 * crashes or hangs only affects its own connection. This process never calls OpenCL. */
static int serve_connections(const arguments *given) {
    struct sockaddr_in place;
    pid_t child = -1;
    if (!find_place(given, &place)) {
        return EXIT_FAILURE;
    }
    int door = listen_at(&place);
    if (door < 0) {
        perror("clopt_runner: the port cannot be opened");
        return EXIT_FAILURE;
    }
    for (;;) {
        int stream = accept_next(door);
        if (stream < 0) {
            perror("clopt_runner: no connection can be accepted");
            return EXIT_FAILURE;
        }
        if (child > 0) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        child = fork();
        if (child == 0) {
            close(door);
            runner_serve(stream, stream, given->device);
            _exit(EXIT_SUCCESS);
        }
        close(stream);
    }
}

int main(int count, char **words) {
    arguments given;
    if (!parse(count, words, &given)) {
        fputs(USAGE, stderr);
        return EXIT_FAILURE;
    }
    signal(SIGPIPE, SIG_IGN);
    if (given.port) {
        return serve_connections(&given);
    }
    /* Compilers print on stdout, so answers get a descriptor of their own. */
    int answers = dup(STDOUT_FILENO);
    if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return EXIT_FAILURE;
    }
    runner_serve(STDIN_FILENO, answers, given.device);
    return EXIT_SUCCESS;
}
