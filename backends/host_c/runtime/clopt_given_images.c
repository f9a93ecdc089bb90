/* Images that the caller binds: their checks, and copies between them and host memory. */
#include "clopt_internal.h"

typedef struct named {
    cl_uint value;
    const char *name;
} named;

static const named ORDERS[] = {{CL_RGBA, "CL_RGBA"}, {CL_BGRA, "CL_BGRA"}, {CL_ARGB, "CL_ARGB"},
                               {CL_R, "CL_R"},       {CL_RG, "CL_RG"},     {CL_RGB, "CL_RGB"}};

static const char *name_of(cl_uint value) {
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++) {
        if (ORDERS[i].value == value) {
            return ORDERS[i].name;
        }
    }
    return "another channel order";
}

/* Returns whether kernels can read the channels: read_imagef accepts these three types,
   read_imageh only halves. */
static int takes_channel(const clopt_image *image, cl_channel_type channel) {
    return channel == image->channel ||
           (image->channel == CL_FLOAT && (channel == CL_HALF_FLOAT || channel == CL_UNORM_INT8));
}

static clopt_status check_object(clopt_model *model, const char *what, cl_mem image) {
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    if (!image) {
        return clopt_fail(model, CLOPT_ARGUMENT, "The image for %s is a null pointer.", what);
    }
    cl_int error = clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (error == CL_SUCCESS) {
        error = clGetMemObjectInfo(image, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    }
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetMemObjectInfo", what, error);
    }
    if (type != CL_MEM_OBJECT_IMAGE2D) {
        return clopt_fail(model, CLOPT_BUFFER, "The object given for %s is not a 2-D image.", what);
    }
    if (context != model->context) {
        return clopt_fail(model, CLOPT_BUFFER,
                          "The image for %s belongs to another context than the model.", what);
    }
    return CLOPT_OK;
}

static clopt_status check_form(clopt_model *model, const char *what, const clopt_image *wanted,
                               cl_mem image) {
    size_t width = 0, height = 0;
    cl_image_format format = {0, 0};
    cl_int error = clGetImageInfo(image, CL_IMAGE_WIDTH, sizeof width, &width, NULL);
    if (error == CL_SUCCESS) {
        error = clGetImageInfo(image, CL_IMAGE_HEIGHT, sizeof height, &height, NULL);
    }
    if (error == CL_SUCCESS) {
        error = clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
    }
    if (error != CL_SUCCESS) {
        return clopt_fail_opencl(model, "clGetImageInfo", what, error);
    }
    if (width != wanted->width || height != wanted->height) {
        return clopt_fail(model, CLOPT_BUFFER,
                          "The image for %s has %zu x %zu texels, but needs %zu x %zu.", what,
                          width, height, wanted->width, wanted->height);
    }
    if (format.image_channel_order != CL_RGBA) {
        return clopt_fail(model, CLOPT_BUFFER,
                          "The image for %s is in %s, but kernels need CL_RGBA; copy it.", what,
                          name_of(format.image_channel_order));
    }
    if (!takes_channel(wanted, format.image_channel_data_type)) {
        return clopt_fail(model, CLOPT_BUFFER, "The channels of the image for %s are not %s.",
                          what,
                          wanted->channel == CL_HALF_FLOAT
                              ? "CL_HALF_FLOAT, as kernels that read halves need"
                              : "CL_FLOAT, CL_HALF_FLOAT or CL_UNORM_INT8");
    }
    return CLOPT_OK;
}

clopt_status clopt_check_given_image(clopt_model *model, size_t index, cl_mem image) {
    const char *what = model->program->info->tensors[index].name;
    const clopt_image *wanted = &model->program->roots[index].image;
    if (wanted->kind == CLOPT_NO_IMAGE) {
        return clopt_fail(model, CLOPT_ARGUMENT,
                          "%s is a buffer; to bind an image, compile the model with --image %s.",
                          what, what);
    }
    clopt_status status = check_object(model, what, image);
    return status == CLOPT_OK ? check_form(model, what, wanted, image) : status;
}

cl_int clopt_transfer_image(clopt_model *model, size_t index) {
    const clopt_image *image = &model->program->roots[index].image;
    const size_t origin[3] = {0, 0, 0};
    const size_t region[3] = {image->width, image->height, 1};
    if (index < model->program->info->input_count) {
        return clEnqueueWriteImage(model->queue, model->roots[index], CL_FALSE, origin, region, 0,
                                   0, model->hosts[index], 0, NULL, NULL);
    }
    return clEnqueueReadImage(model->queue, model->roots[index], CL_FALSE, origin, region, 0, 0,
                              model->hosts[index], 0, NULL, NULL);
}
