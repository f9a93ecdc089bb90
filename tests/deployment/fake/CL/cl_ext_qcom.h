/* Stands in for Qualcomm's header where packages are tested. The numbers are our own. */
#ifndef FAKE_CL_EXT_QCOM_H
#define FAKE_CL_EXT_QCOM_H

#define CL_QUEUE_RECORDABLE_QCOM (1u << 20)
#define CL_DEVICE_RECORDABLE_QUEUE_MAX_SIZE 0x7F00

#endif
