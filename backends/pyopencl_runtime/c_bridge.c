/* Functions of a C package that Python calls. ctypes can build their arguments without knowing
 * the layout of the runtime's structures. */
#include "model.h"

clopt_status clopt_bridge_create(cl_context context, cl_device_id device, cl_command_queue queue,
                                 const void *weights, size_t weights_bytes, const cl_mem *arenas,
                                 size_t arena_count, const char *binaries_path,
                                 clopt_model **model, char *message, size_t message_bytes) {
    clopt_options options = {0};
    options.context = context;
    options.device = device;
    options.queue = queue;
    options.weights = weights;
    options.weights_bytes = weights_bytes;
    options.arenas = arenas;
    options.arena_count = arena_count;
    options.binaries_path = binaries_path;
    return model_create(&options, model, message, message_bytes);
}

/* Write the members of clopt_offload_info in order, without its text; return whether there are
   any. */
int clopt_bridge_offload(const clopt_model *model, cl_ulong figures[7]) {
    const clopt_offload_info info = clopt_model_offload(model);
    figures[0] = (cl_ulong)info.major;
    figures[1] = (cl_ulong)info.minor;
    figures[2] = info.operations;
    figures[3] = info.tensors;
    figures[4] = info.larger_tensors;
    figures[5] = info.larger_bytes;
    figures[6] = info.constant_bytes;
    return info.library != NULL;
}
