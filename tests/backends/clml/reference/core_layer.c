/* A device on which the library is a layer. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"cl_qcom_ml_ops", "cl_qcom_recordable_queues",
                                    "cl_qcom_onchip_global_memory"};

static void test_extensions(void) {
    size_t bytes = 0;
    DO(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes));
    char *text = calloc(1, bytes + 1);
    DO(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, text, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes - 1, text, NULL) ==
          CL_INVALID_VALUE);
    CHECK(strlen(text) + 1 == bytes && strstr(text, "cl_khr_"));
    for (int i = 0; i < 3; i++) {
        const char *found = strstr(text, names[i]);
        CHECK(found && found[-1] == ' ' && !strstr(found + 1, names[i]));
    }
    free(text);
    DO(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, NULL, &bytes));
    cl_name_version *all = malloc(bytes);
    DO(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, bytes, all, NULL));
    CHECK(!strcmp(all[bytes / sizeof *all - 1].name, names[2]));
    free(all);
}

void test_layer(void) {
    cl_uint most = 0;
    size_t onchip = 0;
    char name[256] = "";
    cl_int(CL_API_CALL * query)(cl_int *, cl_int *, cl_uint, cl_uint *);
    void *address;
    cl_uint count = 0;
    test_extensions();
    DO(clGetDeviceInfo(device, CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE, sizeof most, &most, NULL));
    CHECK(most == 3); /* CLML_REFERENCE_RECORDING_SIZE */
    DO(clGetDeviceInfo(device, CL_DEVICE_ONCHIP_GLOBAL_MEM_SIZE_QCOM, sizeof onchip, &onchip,
                       NULL));
    CHECK(onchip == 1 << 20);
    DO(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    CHECK(name[0]);
    address = clGetExtensionFunctionAddressForPlatform(platform, "clQueryMLInterfaceVersionsQCOM");
    memcpy(&query, &address, sizeof query);
    CHECK(query);
    DO(query(NULL, NULL, 0, &count));
    CHECK(count == 5);
    CHECK(clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueRecordingQCOM"));
    CHECK(clGetExtensionFunctionAddressForPlatform(platform, "clmlReferenceHeaderVersion"));
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clNoSuchQCOM"));
}
