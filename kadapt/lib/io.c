// SPDX-License-Identifier: MIT
/* Begin, fork, end, and what the process has done. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "interpose.h"
#include "io.h"
#include "io_count.h"
#include "libkadapt.h"
#include "next.h"
#include "pool.h"
#include "reading.h"
#include "settle.h"

int kadapt_has_rings;
int kadapt_has_stream_rings;
_Atomic uint64_t kadapt_binds;

void kadapt_io_count(struct kadapt_io_totals *totals)
{
	*totals = (struct kadapt_io_totals){
	    .bytes = kadapt_pool_bytes(),
	    .binds = kadapt_binds,
	    .drains = kadapt_drains,
	    .reads = kadapt_readings_records(),
	    .looks = kadapt_looks,
	};
	for (int i = 0; i < KADAPT_CHANNELS; i++) {
		totals->appends += kadapt_channels[i].appends;
		totals->plain += kadapt_channels[i].plain;
	}
}

/* A child shares the open files: nothing can stay bound. */
static void before_fork(void)
{
	kadapt_release_all();
}

static void after_fork_in_child(void)
{
	for (int i = 0; i < KADAPT_CHANNELS; i++) {
		struct kadapt_channel *channel = &kadapt_channels[i];

		/* Most have never been written: not by the child either. */
		if (!channel->owner && !channel->ring && !channel->plain)
			continue;
		channel->appends = 0;
		channel->plain = 0;
		channel->owner = 0;
		channel->header = NULL;
		channel->other = NULL;
		channel->stream = NULL;
		channel->ring = 0;
	}
	kadapt_pool_forget();
	kadapt_readings_forget();
}

/* After the device was opened, before the program's own constructors. */
__attribute__((constructor(102))) static void begin_io(void)
{
	const struct kadapt_query *query = kadapt_device_query();

	if (!(query->features & KADAPT_FEATURE_RINGS) || !(kadapt_plan.flags & KADAPT_PLAN_IO))
		return;
	if (!kadapt_is_interposed() || pthread_atfork(before_fork, NULL, after_fork_in_child))
		return;
	kadapt_has_rings = 1;
	kadapt_has_windows = !!(query->features & KADAPT_FEATURE_WINDOWS);
	kadapt_note_inherited_copies();
	kadapt_has_stream_rings = !!(kadapt_plan.flags & KADAPT_PLAN_STREAMS);
}

/* The last of the program's own: what comes after it is plain. */
__attribute__((destructor(101))) static void end_io(void)
{
	kadapt_has_rings = 0;
	kadapt_has_stream_rings = 0;
	kadapt_has_windows = 0;
	kadapt_release_all();
}
