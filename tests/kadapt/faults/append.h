/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To append as uapi/kadapt.h has it: no library between the test and the driver. */
#ifndef APPEND_H
#define APPEND_H

#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/* What became of a record. */
enum appended {
	APPENDED, /* it is the kernel's now */
	NO_ROOM,  /* nothing was done */
	BROKEN,	  /* it could neither be delivered nor taken back: see errno */
};

/* The descriptor is what the ring is, or was, bound to. */
enum appended append(struct test_ring *ring, int descriptor, const void *record, size_t size);

/* Wait as write(2) would; without SIGPIPE. */
int drain_patiently(const struct test_ring *ring);

/* Features of this kernel's driver, 0 without one. */
uint64_t device_features(void);

#endif
