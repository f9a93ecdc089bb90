/* What the library exports: versions and tables of functions. */
#include "reference.h"

#include <stdlib.h>

#define NEWEST 5

int clml_device_version(void) {
    const char *text = getenv("CLML_REFERENCE_VERSION");
    int version = text ? atoi(text) : NEWEST;
    return version < 1 || version > NEWEST ? NEWEST : version;
}

/* A phone whose applications may not load the vendor's libraries has the functions, too. */
static cl_int check_unlocked(const char *function) {
    const char *locked = getenv("CLML_REFERENCE_LOCKED");
    if (locked && atoi(locked)) {
        return clml_refuse(function, CL_OUT_OF_HOST_MEMORY,
                           "CLML_REFERENCE_LOCKED has this device pretend that its libraries "
                           "cannot be loaded");
    }
    return CL_SUCCESS;
}

#define MEMBERS \
    .clCreateMLOpConvolutionForwardQCOM = clml_create_convolution, \
    .clCreateMLOpFusedConvolutionActivationForwardQCOM = clml_create_convolution_activation, \
    .clCreateMLOpFusedConvolutionBatchNormForwardQCOM = clml_create_convolution_batchnorm, \
    .clCreateMLOpFusedConvolutionBatchNormActivationForwardQCOM = \
        clml_create_convolution_batchnorm_activation, \
    .clCreateMLOpBatchNormForwardQCOM = clml_create_batchnorm, \
    .clCreateMLOpActivationForwardQCOM = clml_create_activation, \
    .clCreateMLOpPoolingForwardQCOM = clml_create_pooling, \
    .clCreateMLOpSoftmaxQCOM = clml_create_softmax, \
    .clCreateMLOpPadQCOM = clml_create_pad, \
    .clCreateMLOpReshapeQCOM = clml_create_reshape, \
    .clCreateMLOpConcatQCOM = clml_create_concat, \
    .clCreateMLOpFullyConnectedQCOM = clml_create_fully_connected, \
    .clCreateMLOpGemmQCOM = clml_create_gemm, \
    .clCreateMLOpBinaryQCOM = clml_create_binary, \
    .clCreateMLOpDepthToSpaceQCOM = clml_create_depth_to_space, \
    .clCreateMLOpResizeBilinearQCOM = clml_create_resize_bilinear, \
    .clReleaseMLOpQCOM = clml_release_op, \
    .clReleaseMLTensorQCOM = clml_release_tensor, \
    .clGetMLTensorMemorySizeQCOM = clml_get_memory_size, \
    .clEnqueueMLOpQCOM = clml_enqueue_ml_op, \
    .clEnqueueWriteMLTensorDataQCOM = clml_enqueue_write, \
    .clEnqueueReadMLTensorDataQCOM = clml_enqueue_read, \
    .clEnqueueCopyMLTensorDataQCOM = clml_enqueue_copy, \
    .clCreateMLTensorMemoryDescriptorSetQCOM = clml_create_set, \
    .clUpdateMLTensorMemoryDescriptorSetQCOM = clml_update_set, \
    .clReleaseMLTensorMemoryDescriptorSetQCOM = clml_release_set, \
    .clCreateMLTuningCacheQCOM = clml_create_cache, \
    .clReleaseMLTuningCacheQCOM = clml_release_cache, \
    .clTuneMLOpQCOM = clml_tune_op, \
    .clSaveMLTuningCacheQCOM = clml_save_cache, \
    .clLoadMLTuningCacheQCOM = clml_load_cache, \
    .clEnqueueRecordingMLOpQCOM = clml_enqueue_recording_ml_op

static CLMLInterfaceV1QCOM v1 = {MEMBERS, .clCreateMLTensorQCOM = clml_create_tensor};

static CLMLInterfaceV2QCOM v2 = {MEMBERS,
                                 .clCreateMLTensorQCOM = clml_create_tensor,
                                 .clCreateMLOpClipQCOM = clml_create_clip};

static CLMLInterfaceV3QCOM v3 = {MEMBERS,
                                 .clCreateMLTensorQCOM = clml_create_tensor,
                                 .clCreateMLOpClipQCOM = clml_create_clip};

static CLMLInterfaceV4QCOM v4 = {MEMBERS,
                                 .clCreateMLTensorWithUsageQCOM = clml_create_tensor_with_usage,
                                 .clCreateMLOpClipQCOM = clml_create_clip};

static CLMLInterfaceV5QCOM v5 = {MEMBERS,
                                 .clCreateMLTensorWithUsageQCOM = clml_create_tensor_with_usage,
                                 .clCreateMLOpClipQCOM = clml_create_clip,
                                 .clSetMLTensorDimensionsQCOM = clml_set_dimensions,
                                 .clUpdateMLOpQCOM = clml_update_op};

static void *const tables[NEWEST] = {&v1, &v2, &v3, &v4, &v5};

cl_int CL_API_CALL clQueryMLInterfaceVersionsQCOM(cl_int *majors, cl_int *minors, cl_uint count,
                                                  cl_uint *count_ret) {
    const char *function = "clQueryMLInterfaceVersionsQCOM";
    cl_uint versions = (cl_uint)clml_device_version();
    cl_int error = check_unlocked(function);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!majors != !minors || !majors != !count || (!majors && !count_ret)) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "ask for the number of versions alone, then for both arrays");
    }
    if (majors && count < versions) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "the arrays have %u entries, and there are %u versions",
                           (unsigned)count, (unsigned)versions);
    }
    for (cl_uint i = 0; majors && i < versions; i++) {
        majors[i] = (cl_int)i + 1;
        minors[i] = 0;
    }
    if (count_ret) {
        *count_ret = versions;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetMLInterfaceQCOM(void *table, cl_int major, cl_int minor) {
    const char *function = "clGetMLInterfaceQCOM";
    if (!table) {
        return clml_refuse(function, CL_INVALID_VALUE, "the place for the table is NULL");
    }
    *(void **)table = NULL;
    cl_int error = check_unlocked(function);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (major < 1 || major > clml_device_version() || minor != 0) {
        return clml_refuse(function, CL_INVALID_VALUE,
                           "there is no version %d.%d, only 1.0 to %d.0", (int)major, (int)minor,
                           clml_device_version());
    }
    *(void **)table = tables[major - 1];
    return CL_SUCCESS;
}

cl_int CL_API_CALL clmlReferenceHeaderVersion(void) { return CLML_REFERENCE_HEADER; }
