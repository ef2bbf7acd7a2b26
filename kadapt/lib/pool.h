/* SPDX-License-Identifier: MIT */
/*
 * The process's rings: made when first needed, kept, and given to one descriptor at
 * a time. A ring stays with the thread that made it until that is dead: so nobody
 * else ever copies into it.
 */
#ifndef LIBKADAPT_POOL_H
#define LIBKADAPT_POOL_H

#include "channel.h"

/* The kernel may allow fewer. */
#define KADAPT_POOL_MAX 64

struct kadapt_appended {
	uint64_t records;
	uint64_t bytes;
};

/* Binding and drain calls that the library made, for the report. */
extern uint64_t kadapt_binds KADAPT_HIDDEN;
extern uint64_t kadapt_drains KADAPT_HIDDEN;

/* Have a child find zeroes in what this process knows of its rings; 0 where that can't be. */
KADAPT_HIDDEN int kadapt_state_begin(void);

/* Bind a ring of the calling thread's to the descriptor; 1 or 0. */
KADAPT_HIDDEN int kadapt_pool_bind(struct kadapt_channel *channel);

/* Have the kernel empty the ring: 0, or -errno of what it met. */
KADAPT_HIDDEN int kadapt_pool_drain(const struct kadapt_ring_header *header);

/* No ring is bound: what the program may write is about to change. */
KADAPT_HIDDEN void kadapt_pool_let_go(void);

/* What went into rings, ever. */
KADAPT_HIDDEN struct kadapt_appended kadapt_pool_appended(void);

#endif
