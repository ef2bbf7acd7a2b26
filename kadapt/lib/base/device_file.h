/* SPDX-License-Identifier: MIT */
/* The process's descriptor of /dev/kadapt. */
#ifndef LIBKADAPT_DEVICE_FILE_H
#define LIBKADAPT_DEVICE_FILE_H

#include <stdint.h>

#include "kadapt.h"

#define KADAPT_HIDDEN __attribute__((visibility("hidden")))
/* Thread variables reached without a call, as the library is in the program. */
#define KADAPT_AT_HAND __attribute__((tls_model("initial-exec")))

/* The descriptor; KADAPT_DEVICE_OFF: no calls in this process; below: none yet. */
#define KADAPT_DEVICE_OFF (-1)
extern _Atomic int kadapt_device KADAPT_HIDDEN;

/* The descriptor, or a negative value. A forked child opens the device here. */
KADAPT_HIDDEN int kadapt_device_current(void);

/* What the kernel offers; all 0 without the device. */
KADAPT_HIDDEN const struct kadapt_query *kadapt_device_query(void);

/*
 * Begins and ends a system call that the plain program does not make. If
 * kadapt_device_stop() has been called, returns 0, and nothing has begun.
 */
KADAPT_HIDDEN int kadapt_calls_begin(void);
KADAPT_HIDDEN void kadapt_calls_end(void);

/* Calls the device. Returns 0 or -errno, and leaves errno alone. */
KADAPT_HIDDEN int kadapt_device_call(int descriptor, unsigned long request, unsigned long argument);

/*
 * Make no more calls: wait for the calls of other threads, and close the device,
 * which unbinds all rings and undoes the phase.
 */
KADAPT_HIDDEN void kadapt_device_stop(void);

/* Make no more calls if this error shows that the descriptor is not the device. */
KADAPT_HIDDEN void kadapt_device_lost(int descriptor, int error);

#endif
