/* SPDX-License-Identifier: MIT */
/* Records on their way into a ring. */
#ifndef LIBKADAPT_RECORD_H
#define LIBKADAPT_RECORD_H

#include <stddef.h>

#include "channel.h"

/* What became of a record. */
enum kadapt_outcome {
	KADAPT_PLAIN,	 /* nothing: make the plain call */
	KADAPT_APPENDED, /* it is in the ring */
	KADAPT_FAILED,	 /* return -1: errno is set, of what an earlier record met */
};

/*
 * Where the record did not fit at once: the ring is full, or closed, or there is none
 * yet. May bind one.
 */
KADAPT_HIDDEN enum kadapt_outcome kadapt_record(int descriptor, const void *record, size_t size);

/* At once, or else so. */
KADAPT_HIDDEN enum kadapt_outcome kadapt_record_at_length(int descriptor, const void *record,
							  size_t size);

#endif
