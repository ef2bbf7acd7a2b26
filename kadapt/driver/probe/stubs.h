/* SPDX-License-Identifier: GPL-2.0-only */
/* stubs.S */
#ifndef _KADAPT_PROBE_STUBS_H
#define _KADAPT_PROBE_STUBS_H

#include <linux/percpu.h>
#include <linux/types.h>

/* For each kind and number, one after the other. */
extern const char kadapt_probe_counters[], kadapt_probe_corrected_counters[];
extern const char kadapt_probe_timers[], kadapt_probe_timers_end[];
/* For each kind. */
extern const char kadapt_probe_shared_timers[];
/* The same, of timers that write events. */
extern const char kadapt_probe_event_timers[];
extern const char kadapt_probe_shared_event_timers[];
/* Where abandoned calls return, of timers without events and with them. */
extern const char kadapt_probe_abandoned_timer[];
extern const char kadapt_probe_abandoned_event_timer[];
DECLARE_PER_CPU(u64, kadapt_probe_event_head);
DECLARE_PER_CPU(void *, kadapt_probe_event_ring);
extern u64 kadapt_probe_event_mask;
/* Offsets of records, biased: see places.c. */
extern u32 *kadapt_probe_table;

/* A part of a timer that a preempted task begins anew. */
struct kadapt_probe_span {
	u32 begin, end;		/* offsets from the first timer */
};

extern const struct kadapt_probe_span kadapt_probe_spans[];
extern const struct kadapt_probe_span kadapt_probe_spans_end[];

/* The ticks of a loop of calls: of no call, or of a function. */
u64 kadapt_probe_time_bare(u64 calls);
u64 kadapt_probe_time_empty(u64 calls);
u64 kadapt_probe_time_nothing(u64 calls);
u64 kadapt_probe_time_look_up(u64 calls);
u64 kadapt_probe_time_point(u64 calls);
/* The empty function, in calibration.c. */
void kadapt_probe_empty(void);
/* The function with a tracepoint, there. */
void kadapt_probe_point_empty(u64 number);

#endif /* _KADAPT_PROBE_STUBS_H */
