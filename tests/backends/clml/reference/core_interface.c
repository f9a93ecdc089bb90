/* Versions, and the device that pretends to be locked. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* CORE_VERSIONS: how many versions there must be; 0: the device is locked. */
void test_interface(void) {
    const char *wanted = getenv("CORE_VERSIONS");
    cl_uint count = 99, versions = wanted ? (cl_uint)atoi(wanted) : 5;
    cl_int majors[8], minors[8];
    CLMLInterfaceV1QCOM *table = (void *)&count;
    CHECK(clmlReferenceHeaderVersion() == CLML_REFERENCE_HEADER);
    if (!versions) {
        REFUSED(clQueryMLInterfaceVersionsQCOM(NULL, NULL, 0, &count), "cannot be loaded");
        CHECK(clQueryMLInterfaceVersionsQCOM(NULL, NULL, 0, &count) == CL_OUT_OF_HOST_MEMORY);
        CHECK(clGetMLInterfaceQCOM(&table, 1, 0) == CL_OUT_OF_HOST_MEMORY && !table && !clml);
        return;
    }
    DO(clQueryMLInterfaceVersionsQCOM(NULL, NULL, 0, &count));
    CHECK(count == versions);
    DO(clQueryMLInterfaceVersionsQCOM(majors, minors, count, NULL));
    for (cl_uint i = 0; i < count; i++) {
        void *found;
        CHECK(majors[i] == (cl_int)i + 1 && minors[i] == 0);
        DO(clGetMLInterfaceQCOM(&found, majors[i], minors[i]));
        CHECK(found);
    }
    REFUSED(clGetMLInterfaceQCOM(&table, (cl_int)count + 1, 0), "there is no version");
    CHECK(!table);
    CHECK((clml != NULL) == (versions == 5));
    CHECK((clGetMLInterfaceV2QCOM(0) != NULL) == (versions >= 2));
    REFUSED(clGetMLInterfaceQCOM(&table, 0, 0), "there is no version 0.0");
    REFUSED(clGetMLInterfaceQCOM(&table, 1, 7), "there is no version 1.7");
    REFUSED(clGetMLInterfaceQCOM(NULL, 1, 0), "NULL");
    REFUSED(clQueryMLInterfaceVersionsQCOM(NULL, NULL, 0, NULL), "then for both arrays");
    REFUSED(clQueryMLInterfaceVersionsQCOM(majors, NULL, 8, NULL), "then for both arrays");
    if (versions > 1) {
        REFUSED(clQueryMLInterfaceVersionsQCOM(majors, minors, 1, NULL), "1 entries");
    }
    table = clGetMLInterfaceV1QCOM(0);
    /* The old way to create a tensor: no usage, and an unused one by its descriptor alone. */
    cl_ml_tensor_desc_qcom desc = describe(CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 2, 3, 4);
    cl_ml_tensor_qcom tensor;
    DO(table->clCreateMLTensorQCOM(context, NULL, &desc, &tensor));
    CHECK(table->clReleaseMLTensorQCOM(tensor) == CL_SUCCESS);
    memset(&desc, 0, sizeof desc);
    REFUSED(table->clCreateMLTensorQCOM(context, NULL, &desc, &tensor), "num_dimensions");
    desc.num_dimensions = CL_TENSOR_UNUSED_QCOM;
    DO(table->clCreateMLTensorQCOM(context, NULL, &desc, &tensor));
    CHECK(table->clReleaseMLTensorQCOM(tensor) == CL_SUCCESS);
}
