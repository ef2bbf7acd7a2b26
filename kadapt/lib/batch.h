/* SPDX-License-Identifier: MIT */
#ifndef LIBKADAPT_BATCH_H
#define LIBKADAPT_BATCH_H

#include "device_file.h"

/* What a loop writes. */
struct kadapt_pieces {
	int descriptor;
	int is_send; /* by send(2), with these flags */
	int flags;
	const char *base;
	uint64_t size;
	uint64_t stride;
	uint64_t count;
};

/* How many pieces one call may take, so that nobody can tell. */
enum kadapt_grouping {
	KADAPT_GROUP_NOTHING, /* each write is its own */
	KADAPT_GROUP_ATOMIC,  /* PIPE_BUF bytes stay together, whoever else writes */
	KADAPT_GROUP_ALL,     /* any number */
};

KADAPT_HIDDEN enum kadapt_grouping kadapt_grouping_of(int descriptor, int is_send);

#endif
