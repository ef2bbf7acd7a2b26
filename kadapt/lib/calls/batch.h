/* SPDX-License-Identifier: MIT */
#ifndef LIBKADAPT_BATCH_H
#define LIBKADAPT_BATCH_H

#include "base/device_file.h"

/* The pieces that a loop writes. */
struct kadapt_pieces {
	int descriptor;
	int is_send; /* by send(2), with these flags */
	int flags;
	const char *base;
	uint64_t size;
	uint64_t stride;
	uint64_t count;
};

/* How many pieces one call may take without a visible difference. */
enum kadapt_grouping {
	KADAPT_GROUP_NOTHING, /* one */
	KADAPT_GROUP_SINGLE,  /* one, or one call of the device, which writes them one by one */
	KADAPT_GROUP_ATOMIC,  /* up to PIPE_BUF bytes, which stay together in a pipe */
	KADAPT_GROUP_ALL,     /* any number */
};

KADAPT_HIDDEN enum kadapt_grouping kadapt_grouping_of(int descriptor, int is_send);

#endif
