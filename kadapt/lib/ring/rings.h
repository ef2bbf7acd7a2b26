/* SPDX-License-Identifier: MIT */
/*
 * The process's rings. A ring is created when it is first needed, kept, and bound to
 * one descriptor at a time. It belongs to the thread that created it until that
 * thread is dead, so only one thread ever copies into it.
 */
#ifndef LIBKADAPT_RINGS_H
#define LIBKADAPT_RINGS_H

#include "ring/slot.h"

/* The kernel may allow fewer. */
#define KADAPT_OWN_RINGS 64

struct kadapt_appended {
	uint64_t records;
	uint64_t bytes;
};

/* The library's KADAPT_BIND and KADAPT_DRAIN calls, for the report. */
extern uint64_t kadapt_binds KADAPT_HIDDEN;
extern uint64_t kadapt_drains KADAPT_HIDDEN;

/*
 * Make the kernel wipe this process's records of rings in every child. Returns 0 if
 * the kernel can't.
 */
KADAPT_HIDDEN int kadapt_rings_begin(void);

/* Bind a ring of the calling thread to the descriptor. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_rings_bind(struct kadapt_slot *slot);

/* Make the kernel drain the ring. Returns 0 or -errno. */
KADAPT_HIDDEN int kadapt_rings_drain(const struct kadapt_ring_header *header);

/* Unbind all rings, because the program's rights are about to change. */
KADAPT_HIDDEN void kadapt_rings_unbind(void);

/* All records that went into rings. */
KADAPT_HIDDEN struct kadapt_appended kadapt_rings_appended(void);

#endif
