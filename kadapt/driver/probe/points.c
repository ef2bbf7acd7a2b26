// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints of the kernel. Each calls a function with the offset of its record;
 * what else it passes on is of no interest, so one function serves all.
 */
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "probe/layout.h"
#include "probe/session.h"
#include "probe/ticks.h"

/* A tracepoint, and the offset of its record. */
struct point {
	struct tracepoint *tracepoint;
	void *offset;
};

static struct point *points;
static unsigned int hooked;
static void *hook;

static notrace struct kadapt_probe_record *record_at(void *offset)
{
	return this_cpu_read(kadapt_probe_block) + (unsigned long)offset;
}

/* Preemption is off. An interrupt may call in between, so each is one addition. */
notrace void kadapt_probe_point_count(void *offset)
{
	struct kadapt_probe_state *state = this_cpu_read(kadapt_probe_state);

	record_at(offset)->histogram[0]++;
	if (state)
		state->away += kadapt_probe_costs[KIND_POINT];
}

notrace void kadapt_probe_point_write(void *offset)
{
	struct kadapt_probe_state *state = this_cpu_read(kadapt_probe_state);
	u64 now = kadapt_probe_ticks();

	record_at(offset)->histogram[0]++;
	if (!state)
		return;
	kadapt_probe_event_write(state, (unsigned long)offset, now, now);
	state->away += kadapt_probe_costs[KIND_POINT_EVENTS];
}

/* ---- the begin and the end ------------------------------------------------ */

struct search {
	unsigned long address;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tracepoint, void *data)
{
	struct search *search = data;

	if ((unsigned long)tracepoint == search->address)
		search->found = tracepoint;
}

static struct tracepoint *tracepoint_at(unsigned long address)
{
	struct search search = { .address = address };

	for_each_kernel_tracepoint(compare, &search);
	return search.found;
}

static int hook_one(unsigned long address, unsigned int number)
{
	struct point *point = &points[hooked];
	int error;

	point->tracepoint = tracepoint_at(address);
	point->offset = (void *)(number * sizeof(struct kadapt_probe_record));
	if (!point->tracepoint)
		return -ENOENT;
	error = tracepoint_probe_register(point->tracepoint, hook,
					  point->offset);
	if (!error)
		hooked++;
	return error;
}

int kadapt_probe_points_hook(const struct kadapt_probe_function *functions,
			     unsigned int count)
{
	unsigned int i;
	int error = 0;

	points = kvcalloc(count, sizeof(*points), GFP_KERNEL);
	if (!points)
		return -ENOMEM;
	hook = kadapt_probe_events_wanted() ? kadapt_probe_point_write :
					      kadapt_probe_point_count;
	for (i = 0; i < count && !error; i++)
		if (functions[i].kind == KADAPT_PROBE_POINT)
			error = hook_one(functions[i].address, i);
	if (error)
		kadapt_probe_points_unhook();
	return error;
}

void kadapt_probe_points_unhook(void)
{
	bool any = hooked;

	while (hooked) {
		hooked--;
		tracepoint_probe_unregister(points[hooked].tracepoint, hook,
					    points[hooked].offset);
	}
	if (any)
		tracepoint_synchronize_unregister();
	kvfree(points);
	points = NULL;
}
