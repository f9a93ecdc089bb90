/* Conversion of a program's tables from a message to the structures of the runtime. */
#include "clopt_runner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Returns zeroed memory for `count` elements of `bytes` whose rows follow in the message. Each
 * row has at least `numbers` numbers there, so that a short message cannot request all memory. */
static void *allocate(runner_program *program, size_t *count, size_t bytes, size_t numbers) {
    const runner_message *message = &program->message;
    if (*count > (message->bytes - message->at) / (numbers * sizeof(cl_ulong))) {
        program->message.is_wrong = 1;
        *count = 0;
    }
    if (program->kept_count == program->kept_room) {
        size_t room = 2 * program->kept_room + 8;
        void **kept = realloc(program->kept, room * sizeof *kept);
        if (!kept) {
            abort(); /* the host notices the end of the stream */
        }
        program->kept = kept;
        program->kept_room = room;
    }
    void *memory = calloc(*count ? *count : 1, bytes);
    if (!memory) {
        abort();
    }
    program->kept[program->kept_count++] = memory;
    return memory;
}

/* Reads the next number, which must fit a size_t (size) or an unsigned (index_of). */
static size_t size(runner_program *program) {
    cl_ulong number = runner_number(&program->message);
    program->message.is_wrong |= number > (size_t)-1;
    return (size_t)number;
}

static unsigned index_of(runner_program *program) {
    cl_ulong number = runner_number(&program->message);
    program->message.is_wrong |= number > UINT_MAX;
    return (unsigned)number;
}

static clopt_image image(runner_program *program) {
    clopt_image result;
    result.kind = (clopt_image_kind)index_of(program);
    result.channel = (cl_channel_type)index_of(program);
    result.width = size(program);
    result.height = size(program);
    result.layers = size(program);
    return result;
}

static void read_info(runner_program *program) {
    clopt_info *info = &program->info;
    info->name = "a trial";
    info->target = "this device";
    info->input_count = size(program);
    size_t count = size(program);
    clopt_tensor *tensors = allocate(program, &count, sizeof *tensors, 2);
    for (size_t i = 0; i < count; i++) {
        tensors[i].name = runner_text(&program->message);
        tensors[i].bytes = size(program);
    }
    info->tensors = tensors;
    program->message.is_wrong |= info->input_count > count;
    info->output_count = count > info->input_count ? count - info->input_count : 0;
    info->arena_count = size(program);
    size_t *arenas = allocate(program, &info->arena_count, sizeof *arenas, 1);
    for (size_t i = 0; i < info->arena_count; i++) {
        arenas[i] = size(program);
    }
    info->arena_sizes = arenas;
}

static void read_sources(runner_program *program) {
    size_t count = size(program);
    clopt_source *sources = allocate(program, &count, sizeof *sources, 1);
    size_t one = 1;
    for (size_t i = 0; i < count; i++) {
        const char **line = allocate(program, &one, sizeof *line, 1);
        *line = runner_text(&program->message);
        sources[i].lines = line;
        sources[i].line_count = 1;
    }
    program->tables.sources = sources;
    program->tables.source_count = (unsigned)count;
    count = size(program);
    clopt_kernel *kernels = allocate(program, &count, sizeof *kernels, 4);
    for (size_t i = 0; i < count; i++) {
        kernels[i].name = runner_text(&program->message);
        kernels[i].source = index_of(program);
        kernels[i].read_images = index_of(program);
        kernels[i].written_images = index_of(program);
    }
    program->tables.kernels = kernels;
    program->tables.kernel_count = (unsigned)count;
}

static void read_memory(runner_program *program) {
    size_t count = size(program);
    clopt_root *roots = allocate(program, &count, sizeof *roots, 8);
    for (size_t i = 0; i < count; i++) {
        roots[i].kind = (clopt_root_kind)index_of(program);
        roots[i].bytes = size(program);
        roots[i].weights_offset = size(program);
        roots[i].image = image(program);
    }
    program->tables.roots = roots;
    program->tables.root_count = (unsigned)count;
    count = size(program);
    clopt_slot *slots = allocate(program, &count, sizeof *slots, 13);
    for (size_t i = 0; i < count; i++) {
        slots[i].name = runner_text(&program->message);
        slots[i].root = index_of(program);
        slots[i].offset = size(program);
        slots[i].bytes = size(program);
        slots[i].image = image(program);
        slots[i].pitch = size(program);
        slots[i].over_parts = index_of(program);
        slots[i].object = index_of(program);
        slots[i].object_offset = size(program);
    }
    program->tables.slots = slots;
    program->tables.slot_count = (unsigned)count;
}

static void read_command(runner_program *program, clopt_command *command) {
    command->kind = (clopt_command_kind)index_of(program);
    command->kernel = index_of(program);
    command->dimensions = index_of(program);
    for (int i = 0; i < 3; i++) {
        command->global[i] = size(program);
    }
    for (int i = 0; i < 3; i++) {
        command->local[i] = size(program);
    }
    size_t count = size(program);
    unsigned *arguments = allocate(program, &count, sizeof *arguments, 1);
    for (size_t i = 0; i < count; i++) {
        arguments[i] = index_of(program);
    }
    command->arguments = arguments;
    command->argument_count = (unsigned)count;
    count = size(program);
    cl_int *bounds = allocate(program, &count, sizeof *bounds, 1);
    for (size_t i = 0; i < count; i++) {
        unsigned bound = index_of(program);
        program->message.is_wrong |= bound > INT_MAX;
        bounds[i] = (cl_int)bound;
    }
    command->bounds = bounds;
    command->bound_count = (unsigned)count;
}

const char *runner_read_program(runner_program *program, runner_message *message) {
    memset(program, 0, sizeof *program);
    program->message = *message;
    memset(message, 0, sizeof *message);
    clopt_program *tables = &program->tables;
    tables->info = &program->info;
    tables->needs = index_of(program);
    tables->image_pitch = size(program);
    read_info(program);
    read_sources(program);
    read_memory(program);
    size_t count = size(program);
    clopt_command *commands = allocate(program, &count, sizeof *commands, 11);
    for (size_t i = 0; i < count; i++) {
        read_command(program, &commands[i]);
    }
    tables->commands = commands;
    tables->command_count = (unsigned)count;
    size_t digest_bytes;
    const unsigned char *digest = runner_bytes(&program->message, &digest_bytes);
    program->weights = runner_bytes(&program->message, &program->weights_bytes);
    if (program->message.is_wrong || program->message.at != program->message.bytes ||
        digest_bytes != sizeof tables->digest) {
        return "The message is no program.";
    }
    memcpy(tables->digest, digest, digest_bytes);
    program->info.weights_bytes = program->weights_bytes;
    return runner_check(program);
}

void runner_free_program(runner_program *program) {
    for (size_t i = 0; i < program->kept_count; i++) {
        free(program->kept[i]);
    }
    free(program->kept);
    free(program->message.data);
    memset(program, 0, sizeof *program);
}
