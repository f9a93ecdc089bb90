/* What Python calls of a C package: functions whose arguments ctypes can make without knowing how
 * the runtime lays out its structures. */
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
