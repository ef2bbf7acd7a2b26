/* SPDX-License-Identifier: MIT */
/*
 * A slot is what the library knows about one descriptor number: the ring that was
 * last bound to it, if any, and how the program writes to it. Numbers from
 * KADAPT_SLOTS on have no slot, and calls on them are plain.
 *
 * Slots have no locks, and their contents are only hints. The ring's tail decides
 * whether a record goes to the descriptor's file: the kernel closes the tail when
 * anybody touches the file. If two threads count at the same time, a burst may begin
 * one record late.
 */
#ifndef LIBKADAPT_SLOT_H
#define LIBKADAPT_SLOT_H

#include <stdint.h>

#include "base/device_file.h"

#define KADAPT_SLOTS 1024

struct kadapt_slot {
	struct kadapt_ring_header *header; /* of the last ring, bound or not; or NULL */
	uint64_t begun;			   /* the ring's `appends` when it was bound */
	uint64_t plain;			   /* redirected calls that were made plainly */
	uint32_t streak;		   /* plain calls in a row that a ring could have taken */
	uint32_t patience;		   /* a longer streak is worth a binding */
	uint32_t is_bound;		   /* the kernel may have unbound the ring since */
} __attribute__((aligned(64)));

/* The kernel gives every child zeroes here: see kadapt_rings_begin(). */
extern struct kadapt_slot kadapt_slots[KADAPT_SLOTS] KADAPT_HIDDEN;

/* Whether this process may have rings. */
extern int kadapt_has_rings KADAPT_HIDDEN;

static inline int kadapt_has_slot(int descriptor)
{
	return (unsigned int)descriptor < KADAPT_SLOTS;
}

/* The descriptor's slot, or NULL. */
static inline struct kadapt_slot *kadapt_slot_of(int descriptor)
{
	return kadapt_has_slot(descriptor) ? &kadapt_slots[descriptor] : NULL;
}

/* Read it once for each use: a handler may give the ring to another slot. */
static inline struct kadapt_ring_header *kadapt_header_of(const struct kadapt_slot *slot)
{
	return __atomic_load_n(&slot->header, __ATOMIC_RELAXED);
}

static inline int kadapt_descriptor_of(const struct kadapt_slot *slot)
{
	return (int)(slot - kadapt_slots);
}

#endif
