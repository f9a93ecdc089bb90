/* The checks that all creators of operations make. */
#include "core.h"

#include <string.h>

typedef struct asked {
    const cl_ml_op_properties_qcom *properties;
    const cl_ml_op_binary_desc_qcom *desc;
    cl_ml_tensor_qcom a, b, c;
    cl_ml_tuningcache_qcom cache;
} asked;

/* Creates it, and releases it if that worked. */
static cl_int create(const asked *all) {
    cl_ml_op_qcom op = (cl_ml_op_qcom)&op;
    cl_int error = clml->clCreateMLOpBinaryQCOM(context, all->properties, all->desc, all->a, all->b,
                                                all->c, &op, all->cache);
    CHECK((error == CL_SUCCESS) == (op != NULL));
    if (op) {
        DO(clml->clReleaseMLOpQCOM(op));
    }
    return error;
}

static void test_tensors_of(const asked *good) {
    asked all = *good;
    cl_ml_tensor_qcom half = tensor_of(CL_HALF_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 1);
    cl_ml_tensor_qcom unused = unused_tensor();
    cl_ml_tensor_qcom parameter = NULL;
    cl_ml_tensor_desc_qcom desc = describe(CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 1);
    DO(clml->clCreateMLTensorWithUsageQCOM(context, NULL, &desc, CL_TENSOR_USAGE_PARAMETER_QCOM,
                                           &parameter));
    all.a = NULL;
    REFUSED(create(&all), "the tensor A is NULL");
    all.a = unused;
    REFUSED(create(&all), "the tensor A is an unused one, but its data are needed");
    all.a = (cl_ml_tensor_qcom)good->cache;
    REFUSED(create(&all), "a tuning cache was given where a tensor belongs");
    all = *good;
    all.b = half;
    REFUSED(create(&all), "B is 1x4x1x1 half NCHW, but the tensors before it have another type");
    all = *good;
    all.c = all.a;
    REFUSED(create(&all), "no operation works in place");
    all.c = parameter;
    REFUSED(create(&all), "the tensor C is a PARAMETER");
    all = *good;
    all.b = parameter;
    DO(create(&all));
    DO(clml->clReleaseMLTensorQCOM(half));
    DO(clml->clReleaseMLTensorQCOM(unused));
    DO(clml->clReleaseMLTensorQCOM(parameter));
}

static void test_misuse(const asked *good) {
    const cl_ml_op_properties_qcom none[] = {CL_ML_OP_PROPERTY_LIST_END_QCOM};
    const cl_ml_op_properties_qcom unknown[] = {77, 1, 0};
    const cl_ml_op_properties_qcom endless[] = {CL_ML_BATCH_NORM_OP_EPSILON_QCOM, 0x3727C5AC, 9};
    cl_ml_op_binary_desc_qcom desc = *good->desc;
    cl_ml_tuningcache_qcom gone;
    cl_context elsewhere = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    asked all = *good;
    DO(create(&all));
    all.properties = none;
    DO(create(&all));
    all.properties = unknown;
    REFUSED(create(&all), "there is no property 77");
    all.properties = endless;
    REFUSED(create(&all), "no end after the epsilon");
    all = *good;
    all.cache = NULL;
    DO(create(&all));
    DO(clml->clCreateMLTuningCacheQCOM(&gone));
    DO(clml->clReleaseMLTuningCacheQCOM(gone));
    all.cache = gone;
    REFUSED(create(&all), "the tuning cache was released");
    all = *good;
    all.desc = NULL;
    REFUSED(create(&all), "descriptor is NULL");
    all.desc = &desc;
    desc.arithmetic_mode = CL_ARITHMETIC_MODE_FP16_QCOM;
    REFUSED(create(&all), "the arithmetic mode of float tensors must be FP32");
    desc = *good->desc;
    desc.alpha.type = CL_HALF_FLOAT;
    REFUSED(create(&all), "must be CL_FLOAT");
    REFUSED(clml->clCreateMLOpBinaryQCOM(context, NULL, good->desc, good->a, good->b, good->c,
                                         NULL, NULL),
            "the place for the operation is NULL");
    cl_ml_op_qcom op = (cl_ml_op_qcom)&op;
    REFUSED(clml->clCreateMLOpBinaryQCOM(elsewhere, NULL, good->desc, good->a, good->b, good->c,
                                         &op, NULL),
            "the tensor A is of another context");
    REFUSED(clml->clCreateMLOpBinaryQCOM(NULL, NULL, good->desc, good->a, good->b, good->c, &op,
                                         NULL),
            "the context is NULL");
    CHECK(!op);
    REFUSED(clml->clUpdateMLOpQCOM(NULL, NULL, NULL, NULL), "dynamic");
    clReleaseContext(elsewhere);
}

void test_operations(void) {
    const cl_ml_op_binary_desc_qcom desc = {CL_TENSOR_OP_ADD_QCOM,
                                            {{1.0f}, CL_FLOAT},
                                            {{1.0f}, CL_FLOAT},
                                            {{0.0f}, CL_FLOAT},
                                            CL_ARITHMETIC_MODE_FP32_QCOM};
    asked good;
    memset(&good, 0, sizeof good);
    good.desc = &desc;
    good.a = tensor_of(CL_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 1);
    good.b = tensor_of(CL_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 1);
    good.c = tensor_of(CL_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 4, 1, 1);
    DO(clml->clCreateMLTuningCacheQCOM(&good.cache));
    test_misuse(&good);
    test_tensors_of(&good);
    DO(clml->clReleaseMLTuningCacheQCOM(good.cache));
    DO(clml->clReleaseMLTensorQCOM(good.a));
    DO(clml->clReleaseMLTensorQCOM(good.b));
    DO(clml->clReleaseMLTensorQCOM(good.c));
}
