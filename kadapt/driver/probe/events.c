// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: timed calls, waits and phases that have ended, in a ring for each
 * processor. Stubs write most of them: see stubs.S.
 *
 * To take a place in the ring is a single instruction, so an interrupt that
 * writes an event takes the next place. A stub that is preempted between that
 * and the ring's address takes a place anew, on its new processor.
 */
#include <linux/percpu.h>

#include "probe/session.h"
#include "probe/stubs.h"

/* In bytes, of all that were ever written. */
DEFINE_PER_CPU(u64, kadapt_probe_event_head);
DEFINE_PER_CPU(void *, kadapt_probe_event_ring);
u64 kadapt_probe_event_mask;
static bool wanted;

/* Enough for the calibration, which looks at none of them. */
static struct kadapt_probe_event spare[4];

void kadapt_probe_events_begin(void *rings, size_t bytes)
{
	int processor;

	wanted = bytes;
	kadapt_probe_event_mask = bytes - 1;
	for_each_possible_cpu(processor) {
		per_cpu(kadapt_probe_event_head, processor) = 0;
		per_cpu(kadapt_probe_event_ring, processor) =
			rings + processor * bytes;
	}
}

bool kadapt_probe_events_wanted(void)
{
	return wanted;
}

notrace void kadapt_probe_event(const struct kadapt_probe_state *state,
				u32 what, u64 begin, u64 end)
{
	if (wanted)
		kadapt_probe_event_write(state, what, begin, end);
}

notrace void kadapt_probe_event_write(const struct kadapt_probe_state *state,
				      u32 what, u64 begin, u64 end)
{
	struct kadapt_probe_event *event;
	u64 next;

	next = this_cpu_add_return(kadapt_probe_event_head, sizeof(*event));
	event = this_cpu_read(kadapt_probe_event_ring) +
		((next - sizeof(*event)) & kadapt_probe_event_mask);
	event->begin = begin;
	event->end = end;
	event->what = what;
	event->task = state->number;
	/* Pairs with the reader's look at the sequence: the event is whole. */
	smp_store_release(&event->sequence, next - sizeof(*event) + 1);
}

void kadapt_probe_events_calibrate(bool begins)
{
	void *ring = begins ? spare : NULL;

	if (begins)
		kadapt_probe_event_mask = sizeof(spare) - 1;
	this_cpu_write(kadapt_probe_event_ring, ring);
}
