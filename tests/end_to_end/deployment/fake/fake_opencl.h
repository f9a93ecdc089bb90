/* An OpenCL that counts references, checks its arguments, and fails when told to.
 *
 * Copies are real, kernels compute nothing. Every call that a program may see fail is counted, and
 * so are malloc, calloc and realloc where the linker wraps them; releases cannot fail. A handle
 * that is used after its release, an argument that is no live object, a range out of bounds: each
 * is a fault, told on stderr.
 */
#ifndef FAKE_OPENCL_H
#define FAKE_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

/* The properties of the one device. */
typedef struct fake_device {
    const char *extensions;
    int views_work;              /* whether images over buffers show the buffers' bytes */
    cl_uint recordable_launches; /* CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE */
    size_t clml_padding;         /* bytes of each row of CLML's tensors beyond what is planned */
    int clml_pads_rows;          /* whether row-major tensors have this padding, too */
} fake_device;

extern fake_device fake;
extern int fake_faults;

/* The platform's device, and a context and queue as an application has. */
cl_device_id fake_device_id(void);
cl_context fake_create_context(void);
cl_command_queue fake_create_queue(void);

/* The calls from now on are numbered from 1; number `nth` fails, none where that is 0. */
void fake_fail(long nth);

/* How many calls there were since then. */
long fake_calls(void);

/* The commands put on the queue since the last call of this, a word each. */
const char *fake_commands(void);

/* How many references to objects there are beyond `expected`; everything is forgotten. */
int fake_end(int expected);

#endif
