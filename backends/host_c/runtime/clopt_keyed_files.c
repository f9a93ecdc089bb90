/* Files that only one model and one driver understand: built kernels, and results of tuning.
 *
 * All numbers are little-endian.
 *
 *   0  eight bytes that identify the kind of file
 *   8  u32 CRC-32 of everything from byte 16 on
 *  12  u32 bytes of the key
 *  16  the key: the model's digest, texts of the platform, device and driver, and the plan
 *      the payload follows
 */
#include "clopt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 8, PREFIX_BYTES = 16 };

/* malloc'd; NULL when out of memory. */
static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* malloc'd; NULL when out of memory. */
static unsigned char *make_key(const clopt_model *model, size_t *bytes) {
    char *texts[] = {
        clopt_platform_text(model->device, CL_PLATFORM_NAME),
        clopt_platform_text(model->device, CL_PLATFORM_VERSION),
        clopt_device_text(model->device, CL_DEVICE_NAME),
        clopt_device_text(model->device, CL_DEVICE_VERSION),
        clopt_device_text(model->device, CL_DRIVER_VERSION),
        copy_of(clopt_plan_name(model->program)),
    };
    const size_t count = sizeof texts / sizeof *texts;
    unsigned char *key = NULL;
    int complete = 1;
    *bytes = CLOPT_DIGEST_BYTES;
    for (size_t i = 0; i < count; i++) {
        complete = complete && texts[i];
        *bytes += texts[i] ? strlen(texts[i]) + 1 : 0;
    }
    if (complete && (key = malloc(*bytes))) {
        unsigned char *end = key + CLOPT_DIGEST_BYTES;
        memcpy(key, model->program->digest, CLOPT_DIGEST_BYTES);
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(texts[i]) + 1;
            memcpy(end, texts[i], length);
            end += length;
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(texts[i]);
    }
    return key;
}

int clopt_open_keyed(clopt_model *model, const char *path, const char *magic, clopt_file *file,
                     size_t *start) {
    size_t bytes;
    if (clopt_file_open(model, path, file) != CLOPT_OK) {
        return 0;
    }
    unsigned char *key = make_key(model, &bytes);
    int ours = key && file->bytes >= PREFIX_BYTES + bytes &&
               memcmp(file->data, magic, MAGIC_BYTES) == 0 &&
               clopt_read_u32(file->data + 12) == bytes &&
               memcmp(file->data + PREFIX_BYTES, key, bytes) == 0 &&
               clopt_read_u32(file->data + 8) ==
                   clopt_crc32(file->data + PREFIX_BYTES, file->bytes - PREFIX_BYTES);
    free(key);
    if (!ours) {
        clopt_file_close(file);
    }
    *start = PREFIX_BYTES + bytes;
    return ours;
}

static clopt_status write_file(clopt_model *model, const char *path, const unsigned char *content,
                               size_t bytes) {
    FILE *stream = fopen(path, "wb");
    int written = stream && fwrite(content, 1, bytes, stream) == bytes;
    if (stream && fclose(stream) != 0) {
        written = 0;
    }
    if (!written) {
        if (stream) {
            remove(path);
        }
        return clopt_fail(model, CLOPT_FILE, "Cannot write %s.", path);
    }
    return CLOPT_OK;
}

clopt_status clopt_write_keyed(clopt_model *model, const char *path, const char *magic,
                               const unsigned char *payload, size_t bytes) {
    size_t key_bytes;
    unsigned char *key = make_key(model, &key_bytes);
    size_t total = PREFIX_BYTES + key_bytes + bytes;
    unsigned char *content = key ? malloc(total) : NULL;
    if (!content) {
        free(key);
        return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory to write %s.",
                          path);
    }
    memcpy(content, magic, MAGIC_BYTES);
    memcpy(content + PREFIX_BYTES, key, key_bytes);
    if (bytes > 0) {
        memcpy(content + PREFIX_BYTES + key_bytes, payload, bytes);
    }
    free(key);
    clopt_write_u32(content + 8, clopt_crc32(content + PREFIX_BYTES, total - PREFIX_BYTES));
    clopt_write_u32(content + 12, (cl_uint)key_bytes);
    clopt_status status = write_file(model, path, content, total);
    free(content);
    return status;
}
