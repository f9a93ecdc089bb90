/* Lookup of CLML's functions, and of the newest version that header and device share. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#define _DARWIN_C_SOURCE

#include "clopt_clml_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#define HAS_DLSYM 1
#endif

typedef cl_int(CL_API_CALL *query_fn)(cl_int *, cl_int *, cl_uint, cl_uint *);
typedef cl_int(CL_API_CALL *get_fn)(void *, cl_int, cl_int);
typedef cl_int(CL_API_CALL *header_fn)(void);

/* The exported functions. */
typedef struct functions {
    query_fn query;
    get_fn get;
    header_fn header; /* of the reference library */
} functions;

/* A version that the device supports. */
typedef struct version {
    cl_int major, minor;
} version;

clopt_status clopt_clml_fail(clopt_model *model, const clopt_clml_interface *clml,
                             const char *call, const char *what, cl_int error) {
    clopt_status status = clopt_fail_opencl(model, call, what, error);
    const char *reason = clml->explain ? clml->explain() : NULL;
    size_t used = strlen(model->message);
    if (reason && *reason) {
        snprintf(model->message + used, sizeof model->message - used, " %s", reason);
    }
    return status;
}

/* Two ways to find functions of extensions */

static void *find_in_platform(const clopt_model *model, const char *name) {
    cl_platform_id platform = NULL;
    clGetDeviceInfo(model->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    return clGetExtensionFunctionAddressForPlatform(platform, name);
}

/* Some loaders do not forward all functions, although the vendor's library is in the process. */
static void *find_in_process(const clopt_model *model, const char *name) {
    (void)model;
#ifdef HAS_DLSYM
    return dlsym(RTLD_DEFAULT, name);
#else
    (void)name;
    return NULL;
#endif
}

/* ISO C cannot convert an object pointer to a function pointer, but POSIX and OpenCL allow it. */
#define FIND(member, name) (*(void **)&(member) = find(model, name))

typedef void *finder(const clopt_model *, const char *);

static int find_functions(const clopt_model *model, finder *find, functions *found,
                          clopt_clml_interface *clml) {
    if (!FIND(found->query, "clQueryMLInterfaceVersionsQCOM") ||
        !FIND(found->get, "clGetMLInterfaceQCOM")) {
        return 0;
    }
    FIND(found->header, "clmlReferenceHeaderVersion");
#ifdef CLML_REFERENCE_HEADER
    FIND(clml->explain, "clmlReferenceMessage");
#else
    clml->explain = NULL;
#endif
    return 1;
}

/* Finds the library that matches the header: a device may have its own CLML while the reference
 * library is in the process, too. */
static int find_any(const clopt_model *model, functions *found, clopt_clml_interface *clml) {
#ifdef CLML_REFERENCE_HEADER
    if (find_functions(model, find_in_process, found, clml) && found->header) {
        return 1;
    }
#endif
    return find_functions(model, find_in_platform, found, clml) ||
           find_functions(model, find_in_process, found, clml);
}

static clopt_status fail_absent(clopt_model *model) {
    return clopt_fail(model, CLOPT_DEVICE,
                      "%s has operations of CLML (cl_qcom_ml_ops), which neither the device nor a "
                      "library in this process provides; compile it with the fact clml=off of its "
                      "target.",
                      model->program->info->name);
}

#ifdef CLML_REFERENCE_HEADER

/* Our header has its own enumerator values, which no driver understands. */
static clopt_status check_header(clopt_model *model, const functions *found) {
    if (!found->header || found->header() != CLML_REFERENCE_HEADER) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s was built with the header of the reference library for CLML, but the "
                          "device has another library; build it with the header of Qualcomm's SDK "
                          "(CMake: -DCLML_INCLUDE_DIR=...).",
                          model->program->info->name);
    }
    return CLOPT_OK;
}

#else

static clopt_status check_header(clopt_model *model, const functions *found) {
    char *extensions = clopt_device_text(model->device, CL_DEVICE_EXTENSIONS);
    int offered = extensions && clopt_has_extension(extensions, "cl_qcom_ml_ops");
    free(extensions);
    if (found->header) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s was built with the header of Qualcomm's SDK, but the library found "
                          "is the reference for CLML; build it with the header beside its sources.",
                          model->program->info->name);
    }
    return offered ? CLOPT_OK : fail_absent(model);
}

#endif

/* Returns the device's versions, malloc'd. */
static clopt_status list_versions(clopt_model *model, query_fn query, version **versions,
                                  cl_uint *count) {
    cl_int *numbers = NULL;
    *versions = NULL;
    *count = 0;
    cl_int error = query(NULL, NULL, 0, count);
    if (error == CL_SUCCESS) {
        numbers = calloc(2 * (size_t)*count + 1, sizeof *numbers);
        *versions = calloc((size_t)*count + 1, sizeof **versions);
        if (!numbers || !*versions) {
            free(numbers);
            return clopt_fail(model, CLOPT_HOST_MEMORY, "There is not enough memory for versions.");
        }
        error = *count ? query(numbers, numbers + *count, *count, NULL) : CL_SUCCESS;
    }
    for (cl_uint i = 0; error == CL_SUCCESS && i < *count; i++) {
        (*versions)[i].major = numbers[i];
        (*versions)[i].minor = numbers[*count + i];
    }
    free(numbers);
    return error == CL_SUCCESS
               ? CLOPT_OK
               : clopt_fail(model, CLOPT_DEVICE,
                            "The device's CLML cannot be used: clQueryMLInterfaceVersionsQCOM "
                            "returns %d, as it does in applications that may not load the vendor's "
                            "libraries; compile %s with the fact clml=off of its target.",
                            (int)error, model->program->info->name);
}

/* A device may list only its newest version, but it supports the earlier ones, too. */
static int choose(const functions *found, const version *versions, cl_uint count, int oldest,
                  int newest, clopt_clml_interface *clml) {
    for (int major = newest; major >= oldest; major--) {
        int offered = 0;
        cl_int minor = 0;
        for (cl_uint i = 0; i < count; i++) {
            offered = offered || versions[i].major >= major;
            minor = versions[i].major == major ? versions[i].minor : minor;
        }
        clml->table = NULL;
        if (offered && found->get((void *)&clml->table, major, minor) == CL_SUCCESS &&
            clml->table) {
            clml->major = major;
            clml->minor = minor;
            return 1;
        }
    }
    return 0;
}

static clopt_status fail_version(clopt_model *model, const version *versions, cl_uint count,
                                 int oldest, int allowed) {
    int device = 0;
    for (cl_uint i = 0; i < count; i++) {
        device = versions[i].major > device ? (int)versions[i].major : device;
    }
    if (allowed > 0 && allowed < oldest) {
        return clopt_fail(model, CLOPT_DEVICE,
                          "%s needs version %d of CLML, but options.offload_version allows %d: "
                          "compile it with the fact clml_version=%d of its target.",
                          model->program->info->name, oldest, allowed, allowed);
    }
    return clopt_fail(model, CLOPT_DEVICE,
                      "%s needs version %d of CLML; it was built for versions up to %d, but the "
                      "device has versions up to %d: compile it with the fact clml_version=%d of "
                      "its target.",
                      model->program->info->name, oldest, CLOPT_CLML_NEWEST, device,
                      device < CLOPT_CLML_NEWEST ? device : CLOPT_CLML_NEWEST);
}

clopt_status clopt_clml_find(clopt_model *model, int oldest, int newest,
                             clopt_clml_interface *clml) {
    int allowed = newest > 0 && newest < CLOPT_CLML_NEWEST ? newest : CLOPT_CLML_NEWEST;
    functions found;
    version *versions;
    cl_uint count;
    if (!find_any(model, &found, clml)) {
        return fail_absent(model);
    }
    clopt_status status = check_header(model, &found);
    if (status != CLOPT_OK) {
        return status;
    }
    status = list_versions(model, found.query, &versions, &count);
    if (status == CLOPT_OK &&
        !choose(&found, versions, count, oldest, allowed, clml)) {
        status = fail_version(model, versions, count, oldest, newest);
    }
    free(versions);
    return status;
}
