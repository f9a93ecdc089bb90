/* The weights file: loading and checking.
 *
 * All numbers are little-endian, and so are the constants.
 *
 *   0  "CLOPTWTS"
 *   8  u32 version, 1
 *  12  u32 alignment of each constant in the file
 *  16  u64 bytes of the file
 *  24  u32 CRC-32 of everything from byte 64 on
 *  28  u32 zero
 *  32  the digest of the model to which the weights belong
 *  48  zeros
 *  64  constants, at the offsets that the model's tables name
 */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define CLOPT_HAS_MMAP 1
#endif

#include "clopt_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CLOPT_HAS_MMAP
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum { WEIGHTS_VERSION = 1, HEADER_BYTES = 64, DIGEST_AT = 32 };

static clopt_status fail_to_read(clopt_model *model, const char *path) {
    return clopt_fail(model, CLOPT_FILE, "Cannot read %s: %s.", path, strerror(errno));
}

#ifdef CLOPT_HAS_MMAP

clopt_status clopt_file_open(clopt_model *model, const char *path, clopt_file *file) {
    struct stat facts;
    void *data = NULL;
    int handle = open(path, O_RDONLY);
    if (handle < 0) {
        return fail_to_read(model, path);
    }
    if (fstat(handle, &facts) != 0) {
        close(handle);
        return fail_to_read(model, path);
    }
    if (facts.st_size > 0) { /* mmap rejects an empty file */
        data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
    }
    close(handle);
    if (data == MAP_FAILED) {
        return fail_to_read(model, path);
    }
    file->data = data;
    file->bytes = (size_t)facts.st_size;
    file->mapped = 1;
    return CLOPT_OK;
}

#else

clopt_status clopt_file_open(clopt_model *model, const char *path, clopt_file *file) {
    unsigned char *data = NULL;
    long bytes = -1;
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        return fail_to_read(model, path);
    }
    if (fseek(stream, 0, SEEK_END) == 0) {
        bytes = ftell(stream);
    }
    if (bytes > 0 && fseek(stream, 0, SEEK_SET) == 0) {
        data = malloc((size_t)bytes);
    }
    if (bytes < 0 || (bytes > 0 && !data) ||
        (data && fread(data, 1, (size_t)bytes, stream) != (size_t)bytes)) {
        free(data);
        fclose(stream);
        return clopt_fail(model, CLOPT_FILE, "Cannot read %s into memory.", path);
    }
    fclose(stream);
    file->data = data;
    file->bytes = (size_t)bytes;
    file->mapped = 0;
    return CLOPT_OK;
}

#endif

void clopt_file_close(clopt_file *file) {
#ifdef CLOPT_HAS_MMAP
    if (file->mapped && file->data) {
        munmap((void *)file->data, file->bytes);
    }
#else
    free((void *)file->data);
#endif
    file->data = NULL;
    file->bytes = 0;
}

cl_uint clopt_read_u32(const unsigned char *data) {
    return (cl_uint)data[0] | (cl_uint)data[1] << 8 | (cl_uint)data[2] << 16 |
           (cl_uint)data[3] << 24;
}

cl_ulong clopt_read_u64(const unsigned char *data) {
    return (cl_ulong)clopt_read_u32(data) | (cl_ulong)clopt_read_u32(data + 4) << 32;
}

void clopt_write_u32(unsigned char *data, cl_uint value) {
    for (int i = 0; i < 4; i++) {
        data[i] = (unsigned char)(value >> 8 * i);
    }
}

void clopt_write_u64(unsigned char *data, cl_ulong value) {
    clopt_write_u32(data, (cl_uint)value);
    clopt_write_u32(data + 4, (cl_uint)(value >> 32));
}

/* Processes eight bytes per step, each by its own table ("slicing by 8", Kounavis and Berry
   2005). */
cl_uint clopt_crc32(const unsigned char *data, size_t bytes) {
    cl_uint table[8][256];
    for (cl_uint i = 0; i < 256; i++) {
        cl_uint value = i;
        for (int bit = 0; bit < 8; bit++) {
            value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
        }
        table[0][i] = value;
    }
    for (int step = 1; step < 8; step++) {
        for (int i = 0; i < 256; i++) {
            cl_uint before = table[step - 1][i];
            table[step][i] = before >> 8 ^ table[0][before & 0xFF];
        }
    }
    cl_uint crc = 0xFFFFFFFFu;
    for (; bytes >= 8; data += 8, bytes -= 8) {
        cl_uint low = clopt_read_u32(data) ^ crc;
        crc = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^
              table[4][low >> 24] ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^
              table[0][data[7]];
    }
    for (; bytes > 0; data++, bytes--) {
        crc = crc >> 8 ^ table[0][(crc ^ *data) & 0xFF];
    }
    return ~crc;
}

static int is_little_endian(void) {
    const cl_uint one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

clopt_status clopt_check_weights(clopt_model *model, const clopt_file *file) {
    const clopt_program *program = model->program;
    const char *name = program->info->name;
    const unsigned char *header = file->data;
    if (!is_little_endian()) {
        return clopt_fail(model, CLOPT_WEIGHTS,
                          "The weights are little-endian, but this machine is not.");
    }
    if (file->bytes < HEADER_BYTES || memcmp(header, "CLOPTWTS", 8) != 0 ||
        clopt_read_u32(header + 8) != WEIGHTS_VERSION) {
        return clopt_fail(model, CLOPT_WEIGHTS,
                          "This is not a weights file of clopt; use the weights.bin of %s.", name);
    }
    if (memcmp(header + DIGEST_AT, program->digest, CLOPT_DIGEST_BYTES) != 0) {
        return clopt_fail(model, CLOPT_WEIGHTS,
                          "The weights belong to another model, or to another compilation of %s; "
                          "use the weights.bin that was written with its sources.",
                          name);
    }
    if (file->bytes != program->info->weights_bytes ||
        clopt_read_u64(header + 16) != program->info->weights_bytes) {
        return clopt_fail(model, CLOPT_WEIGHTS,
                          "The weights of %s are incomplete: the file has %zu of %zu bytes.", name,
                          file->bytes, program->info->weights_bytes);
    }
    if (clopt_read_u32(header + 24) !=
        clopt_crc32(header + HEADER_BYTES, file->bytes - HEADER_BYTES)) {
        return clopt_fail(model, CLOPT_WEIGHTS,
                          "The weights of %s are damaged: their checksum differs.", name);
    }
    return CLOPT_OK;
}
