// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stubs cost, measured on an empty function of this module.
 *
 * The least of many rounds counts: all that disturbs a round only adds.
 */
#include <linux/irqflags.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/tracepoint.h>

#include "probe/layout.h"
#include "probe/point.h"
#include "probe/places.h"
#include "probe/session.h"
#include "probe/stubs.h"

#define ROUNDS	20
#define CALLS	256
#define NUMBER	(OWN_STUBS - 1)

u64 kadapt_probe_inner;
u64 kadapt_probe_costs[KINDS];
u64 kadapt_probe_shared_costs[KINDS];

noinline void kadapt_probe_empty(void)
{
	asm volatile("");
}

static struct kadapt_probe_record records[OWN_STUBS + 1];
static struct kadapt_probe_state state;
static struct kadapt_probe_calls registration;

/* What the calls of one round recorded of themselves, at least. */
static u64 least_recorded;

static u64 least_time(u64 (*time_calls)(u64 calls))
{
	u64 least = U64_MAX;
	unsigned long flags;
	unsigned int i;

	least_recorded = U64_MAX;
	for (i = 0; i < ROUNDS; i++) {
		local_irq_save(flags);
		records[NUMBER].inclusive = 0;
		state = (struct kadapt_probe_state){ .top = &state.base };
		this_cpu_write(kadapt_probe_state, &state);
		this_cpu_write(kadapt_probe_block, records);
		kadapt_probe_events_calibrate(true);
		least = min(least, time_calls(CALLS));
		least_recorded = min(least_recorded, records[NUMBER].inclusive);
		this_cpu_write(kadapt_probe_state, NULL);
		kadapt_probe_events_calibrate(false);
		local_irq_restore(flags);
	}
	return least;
}

/* The least time of calls that an instrument of this kind records. */
static int least_instrumented(u32 kind, u64 *least)
{
	unsigned long place = (unsigned long)kadapt_probe_empty;
	unsigned long stub = kadapt_probe_stub(NUMBER, kind);
	int error = kadapt_probe_register(&registration, &place, 1, stub);

	if (error)
		return error;
	*least = least_time(kadapt_probe_time_empty);
	kadapt_probe_unregister(&registration, stub);
	return 0;
}

static u64 per_call(u64 ticks)
{
	return DIV_ROUND_CLOSEST_ULL(ticks, CALLS);
}

static int measure(u32 kind, u64 empty, u64 look_up)
{
	u64 instrumented;
	int error = least_instrumented(kind, &instrumented);

	if (error)
		return error;
	kadapt_probe_costs[kind] = per_call(instrumented - empty);
	kadapt_probe_shared_costs[kind] = kadapt_probe_costs[kind] + look_up;
	/* The frame has the record, which the exit adds. */
	if (kind != KADAPT_PROBE_COUNT && kind != KIND_CORRECTED)
		kadapt_probe_shared_costs[kind]++;
	return 0;
}

/* ---- tracepoints ---------------------------------------------------------- */

DEFINE_TRACE(kadapt_probe_calibrated, TP_PROTO(u64 number), TP_ARGS(number));

noinline void kadapt_probe_point_empty(u64 number)
{
	trace_kadapt_probe_calibrated(number);
}

static int measure_point(u32 kind, void (*hook)(void *offset), u64 without)
{
	struct tracepoint *point = &__tracepoint_kadapt_probe_calibrated;
	int error = tracepoint_probe_register(point, hook, NULL);
	u64 with;

	if (error)
		return error;
	with = least_time(kadapt_probe_time_point);
	tracepoint_probe_unregister(point, hook, NULL);
	tracepoint_synchronize_unregister();
	kadapt_probe_costs[kind] = per_call(with - without);
	kadapt_probe_shared_costs[kind] = kadapt_probe_costs[kind];
	return 0;
}

static int measure_points(void)
{
	u64 without = least_time(kadapt_probe_time_point);

	return measure_point(KIND_POINT, kadapt_probe_point_count, without) ?:
	       measure_point(KIND_POINT_EVENTS, kadapt_probe_point_write,
			     without);
}

static bool is_point(u32 kind)
{
	return kind == KIND_POINT || kind == KIND_POINT_EVENTS;
}

int kadapt_probe_calibrate(void)
{
	u64 bare, empty, look_up, own;
	static u32 zero;
	int error = 0;
	u32 kind;

	kadapt_probe_table = &zero;
	bare = least_time(kadapt_probe_time_bare);
	empty = least_time(kadapt_probe_time_empty);
	look_up = per_call(least_time(kadapt_probe_time_look_up) -
			   least_time(kadapt_probe_time_nothing));
	for (kind = KADAPT_PROBE_COUNT; kind < KINDS && !error; kind++) {
		if (is_point(kind))
			continue;
		error = measure(kind, empty, look_up);
		if (kind == KADAPT_PROBE_TIME) {
			/* The call itself is its caller's. */
			own = per_call(empty - bare) - 1;
			kadapt_probe_inner = per_call(least_recorded) - own;
		}
	}
	/* Nothing that was preempted goes on in the stub of this function. */
	synchronize_rcu_tasks();
	return error ?: measure_points();
}
