/* Recordable queues and on-chip memory of Qualcomm's OpenCL, as far as public sources tell.
 *
 * A header of our own, for the reference library; a device wants the one of the vendor's SDK, which
 * has this name. Values that no public source has are our own, which ends in an error, not in
 * something else, where a program built with this header meets a real driver.
 */
#ifndef CL_EXT_QCOM_H
#define CL_EXT_QCOM_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLML_REFERENCE_EXT_HEADER 1

/* cl_qcom_recordable_queues */

#define cl_qcom_recordable_queues 1

/* Of a queue whose launches are recorded, and not executed. */
#define CL_QUEUE_RECORDABLE_QCOM ((cl_command_queue_properties)1 << 30)

/* cl_uint: how many launches a recording may have. */
#define CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE 0x41DE

typedef struct _cl_recording_qcom *cl_recording_qcom;

/* What a replay changes; dispatch_index is the number of the launch in the recording. */
typedef struct cl_array_arg_qcom {
    cl_uint dispatch_index;
    cl_uint arg_indx;
    size_t arg_size;
    const void *arg_value;
} cl_array_arg_qcom;

typedef struct cl_offset_qcom {
    cl_uint dispatch_index;
    const size_t *offsets;
} cl_offset_qcom;

typedef struct cl_workgroup_qcom {
    cl_uint dispatch_index;
    const size_t *workgroup_size;
} cl_workgroup_qcom;

extern CL_API_ENTRY cl_recording_qcom CL_API_CALL clNewRecordingQCOM(cl_command_queue queue,
                                                                     cl_int *error);
extern CL_API_ENTRY cl_int CL_API_CALL clEndRecordingQCOM(cl_recording_qcom recording);
extern CL_API_ENTRY cl_int CL_API_CALL clRetainRecordingQCOM(cl_recording_qcom recording);
extern CL_API_ENTRY cl_int CL_API_CALL clReleaseRecordingQCOM(cl_recording_qcom recording);
extern CL_API_ENTRY cl_int CL_API_CALL clEnqueueRecordingQCOM(
    cl_command_queue queue, cl_recording_qcom recording, size_t arg_count,
    const cl_array_arg_qcom *args, size_t offset_count, const cl_offset_qcom *offsets,
    size_t global_count, const cl_workgroup_qcom *globals, size_t local_count,
    const cl_workgroup_qcom *locals, cl_uint wait_count, const cl_event *waits, cl_event *event);

/* cl_qcom_onchip_global_memory: the application says where in it a buffer lies. */

#define cl_qcom_onchip_global_memory 1

#define CL_DEVICE_ONCHIP_GLOBAL_MEM_SIZE_QCOM 0x7C01 /* size_t */
#define CL_MEM_ONCHIP_GLOBAL_QCOM 0x7C02             /* 1: a buffer in on-chip memory */
#define CL_MEM_ONCHIP_GLOBAL_OFFSET_QCOM 0x7C03      /* bytes */

#ifdef __cplusplus
}
#endif

#endif
