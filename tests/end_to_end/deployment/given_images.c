/* Runs a network on images of the application's: a camera's RGBA8 in, floats out.
 *
 * usage: given_images PLATFORM WEIGHTS TEXELS MASK; the model is called net, its input camera and
 * its output mask are images, its output picture is a buffer. TEXELS has the bytes of the camera's
 * image; the floats of the mask's go to MASK. Prints the answers to mistakes.
 */
#include "net.h"
#include "opencl.h"

enum { WIDTH = 7, HEIGHT = 10, MASK_HEIGHT = 20, TEXEL = 4 };

static net_model *model;
static unsigned char texels[WIDTH * HEIGHT * TEXEL];
static float mask[WIDTH * MASK_HEIGHT * TEXEL];

static cl_mem new_image(cl_context owner, cl_channel_order order, cl_channel_type channel,
                        size_t height, cl_mem_flags flags, void *data) {
    const cl_image_format format = {order, channel};
    cl_image_desc description = {0};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = WIDTH;
    description.image_height = height;
    flags |= data ? CL_MEM_COPY_HOST_PTR : 0;
    return clCreateImage(owner, flags, &format, &description, data, NULL);
}

static void refuse(const char *what, cl_mem memory) {
    clopt_status status = net_bind_image(model, NET_INPUT_CAMERA, memory);
    printf("%s | %s | %s\n", what, clopt_status_name(status), net_message(model));
    if (memory) {
        clReleaseMemObject(memory);
    }
}

static void mistakes(void) {
    const cl_mem_flags in = CL_MEM_READ_ONLY;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof texels, NULL, NULL);
    clopt_status status = net_bind_buffer(model, NET_INPUT_CAMERA, buffer);
    printf("buffer | %s | %s\n", clopt_status_name(status), net_message(model));
    status = net_bind_image(model, NET_OUTPUT_PICTURE, buffer);
    printf("picture | %s | %s\n", clopt_status_name(status), net_message(model));
    refuse("no image", buffer);
    refuse("null", NULL);
    refuse("size", new_image(context, CL_RGBA, CL_FLOAT, HEIGHT - 1, in, NULL));
    refuse("order", new_image(context, CL_BGRA, CL_UNORM_INT8, HEIGHT, in, NULL));
    refuse("channels", new_image(context, CL_RGBA, CL_SIGNED_INT8, HEIGHT, in, NULL));
    refuse("flags", new_image(context, CL_RGBA, CL_FLOAT, HEIGHT, CL_MEM_WRITE_ONLY, NULL));
    refuse("context", new_image(other, CL_RGBA, CL_FLOAT, HEIGHT, in, NULL));
    clReleaseContext(other);
}

/* The mask from an image of the application's, then from one of the model's own: equal bits. */
static int infer(void) {
    static float again[WIDTH * MASK_HEIGHT * TEXEL], picture[2 * 3 * 5 * WIDTH];
    const size_t origin[3] = {0, 0, 0}, region[3] = {WIDTH, MASK_HEIGHT, 1};
    cl_mem camera = new_image(context, CL_RGBA, CL_UNORM_INT8, HEIGHT, CL_MEM_READ_ONLY, texels);
    cl_mem out = new_image(context, CL_RGBA, CL_FLOAT, MASK_HEIGHT, CL_MEM_WRITE_ONLY, NULL);
    CHECK(model, net_bind_image(model, NET_INPUT_CAMERA, camera));
    CHECK(model, net_bind_image(model, NET_OUTPUT_MASK, out));
    CHECK(model, net_bind_host(model, NET_OUTPUT_PICTURE, picture));
    CHECK(model, net_enqueue(model, NULL));
    clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, mask, 0, NULL, NULL);
    CHECK(model, net_bind_host(model, NET_OUTPUT_MASK, again));
    CHECK(model, net_enqueue(model, NULL));
    clFinish(queue);
    clReleaseMemObject(camera);
    clReleaseMemObject(out);
    return net_info.tensors[NET_OUTPUT_MASK].bytes == sizeof mask &&
           memcmp(mask, again, sizeof mask) == 0;
}

static size_t transfer(const char *path, const char *mode, void *data, size_t bytes) {
    FILE *stream = fopen(path, mode);
    size_t done = *mode == 'r' ? fread(data, 1, bytes, stream) : fwrite(data, 1, bytes, stream);
    fclose(stream);
    return done == bytes;
}

int main(int count, char **words) {
    char message[512];
    if (count != 5 || !transfer(words[3], "rb", texels, sizeof texels)) {
        return 2;
    }
    open_device(words[1]);
    clopt_options options = options_for(words[2]);
    if (net_create(&options, &model, message, sizeof message) != CLOPT_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    mistakes();
    int is_same = infer();
    net_destroy(model);
    close_device();
    return is_same && transfer(words[4], "wb", mask, sizeof mask) ? 0 : 1;
}
