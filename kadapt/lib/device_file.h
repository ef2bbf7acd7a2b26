/* SPDX-License-Identifier: MIT */
/* The process's descriptor of /dev/kadapt. */
#ifndef LIBKADAPT_DEVICE_FILE_H
#define LIBKADAPT_DEVICE_FILE_H

#include <stdint.h>

#include "kadapt.h"

#define KADAPT_HIDDEN __attribute__((visibility("hidden")))
/* A thread's variable that takes no call to find: the library is linked to programs. */
#define KADAPT_AT_HAND __attribute__((tls_model("initial-exec")))

/* Descriptor, or KADAPT_DEVICE_OFF: no calls in this process; below: none yet. */
#define KADAPT_DEVICE_OFF (-1)
extern _Atomic int kadapt_device KADAPT_HIDDEN;

/* The descriptor, or a negative value; a forked child opens its own here. */
KADAPT_HIDDEN int kadapt_device_current(void);

/* What the kernel can do; all 0 without the device. */
KADAPT_HIDDEN const struct kadapt_query *kadapt_device_query(void);

/*
 * A call of the device: 0 or -errno; errno is left alone, and so is any
 * interposed ioctl().
 */
KADAPT_HIDDEN int kadapt_device_call(int descriptor, unsigned long request, unsigned long argument);

/*
 * No calls from here on: waits for those of other threads, and closes the device,
 * which writes what the rings hold, lets the files go, and undoes the phase.
 */
KADAPT_HIDDEN void kadapt_device_stop(void);

/* After this error of a call on the device itself there are no more. */
KADAPT_HIDDEN void kadapt_device_lost(int descriptor, int error);

#endif
