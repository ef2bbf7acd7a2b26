/* SPDX-License-Identifier: MIT */
/* The process's windows: made when first needed, kept, given to one reading at a time. */
#ifndef LIBKADAPT_WINDOW_POOL_H
#define LIBKADAPT_WINDOW_POOL_H

#include "reading.h"

/* At most 64, the bits of kadapt_looked; each may count a quarter of a mebibyte as locked. */
#define KADAPT_WINDOWS 16

/* A window of the program's. */
struct kadapt_pool_window {
	const struct kadapt_window_header *header;
	const char *data;
	uint32_t number;		/* the device's */
	struct kadapt_reading *reading; /* who has it */
};

/* The reading's window, a new one if need be; NULL if there is none now. From inside. */
KADAPT_HIDDEN const struct kadapt_pool_window *
kadapt_window_pool_take(struct kadapt_reading *reading);

/* The reading's window, which it has. */
KADAPT_HIDDEN const struct kadapt_pool_window *
kadapt_window_pool_of(const struct kadapt_reading *reading);

/* The reading that has the window of this bit. */
KADAPT_HIDDEN struct kadapt_reading *kadapt_window_pool_reading(unsigned int bit);

/* In a forked child: the windows are the parent's. */
KADAPT_HIDDEN void kadapt_window_pool_forget(void);

#endif
