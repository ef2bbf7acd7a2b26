/* SPDX-License-Identifier: MIT */
/* Records that may go into a ring. */
#ifndef LIBKADAPT_RECORD_H
#define LIBKADAPT_RECORD_H

#include <stddef.h>

#include "ring/slot.h"

/* What became of a record. */
enum kadapt_outcome {
	KADAPT_PLAIN,	 /* not accepted: make the plain call */
	KADAPT_APPENDED, /* accepted */
	KADAPT_FAILED,	 /* return -1: errno is the error kept of an earlier record */
};

/*
 * Append the record. May drain the ring first, or bind one. A cancellation point, as write(2)
 * is.
 */
KADAPT_HIDDEN enum kadapt_outcome kadapt_record_at_length(int descriptor, const void *record,
							  size_t size);

/* The same for a caller that holds a lock: no cancellation point. */
KADAPT_HIDDEN enum kadapt_outcome kadapt_record_locked(int descriptor, const void *record,
						       size_t size);

#endif
