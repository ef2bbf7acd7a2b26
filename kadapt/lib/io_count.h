/* SPDX-License-Identifier: MIT */
/* What the process's I/O paths have done, for the report. */
#ifndef LIBKADAPT_IO_COUNT_H
#define LIBKADAPT_IO_COUNT_H

#include <stdint.h>

struct kadapt_io_totals {
	uint64_t appends; /* records that went into rings */
	uint64_t bytes;
	uint64_t binds;
	uint64_t drains; /* that the library asked for */
	uint64_t plain;	 /* redirected calls that were made as they are */
};

/* Weak, because programs without I/O paths do not have it. */
__attribute__((visibility("hidden"), weak)) void kadapt_io_count(struct kadapt_io_totals *totals);

#endif
