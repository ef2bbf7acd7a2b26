/* SPDX-License-Identifier: MIT */
/*
 * When a ring pays. Binding and unbinding cost two calls, and each record but the
 * first saves one. So a ring is for a burst: records that follow one another while
 * nobody touches the file. No clock decides; the number of records before the kernel
 * unbound the ring shows whether the ring paid.
 */
#ifndef LIBKADAPT_BURST_H
#define LIBKADAPT_BURST_H

#include "ring/slot.h"
#include "base/levels.h"

/*
 * After each ring that did not pay, twice as many records come before the next
 * attempt, up to this many. By then the number may mean another file.
 */
#define KADAPT_PATIENCE_MAX 1023

/* A redirected call was made plainly. `was_record`: a ring could have taken it. */
static inline void kadapt_burst_plain(int descriptor, int was_record)
{
	struct kadapt_slot *slot = kadapt_slot_of(descriptor);

	if (!slot)
		return;
	slot->plain++;
	slot->streak = was_record ? slot->streak + 1 : 0;
}

/* Whether the streak is long enough to bind a ring. */
static inline int kadapt_burst_is_on(const struct kadapt_slot *slot)
{
	return slot->streak > slot->patience && !kadapt_is_plain(KADAPT_TRIED_RINGS);
}

/*
 * Whether no ring is bound and no burst has begun: then the call is made plainly. A
 * program that writes a request and waits for the answer does no more than this.
 */
static inline int kadapt_burst_is_off(const struct kadapt_slot *slot)
{
	return !kadapt_has_rings || (!slot->is_bound && !kadapt_burst_is_on(slot));
}

/* The ring has been bound. */
KADAPT_HIDDEN void kadapt_burst_begins(struct kadapt_slot *slot);

/* The kernel has unbound the ring. */
KADAPT_HIDDEN void kadapt_burst_ended(struct kadapt_slot *slot);

/* The kernel refused to bind. */
KADAPT_HIDDEN void kadapt_burst_refused(struct kadapt_slot *slot);

#endif
