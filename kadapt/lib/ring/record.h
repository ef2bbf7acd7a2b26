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
 * For a record that could not be appended: the ring is full or closed, or there is no
 * ring yet. May drain the ring, or bind one.
 */
KADAPT_HIDDEN enum kadapt_outcome kadapt_record(int descriptor, const void *record, size_t size);

/* Append the record, or else do as kadapt_record(). */
KADAPT_HIDDEN enum kadapt_outcome kadapt_record_at_length(int descriptor, const void *record,
							  size_t size);

#endif
