// SPDX-License-Identifier: MIT
/* Begin and end of the process's rings, and their totals. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/optional.h"
#include "libkadapt.h"
#include "ring/begin.h"
#include "ring/rings.h"
#include "ring/slot.h"

int kadapt_has_rings;
int kadapt_has_stream_rings;
int kadapt_is_filtered;

void kadapt_io_count(struct kadapt_io_totals *totals)
{
	const struct kadapt_appended appended = kadapt_rings_appended();

	*totals = (struct kadapt_io_totals){
	    .appends = appended.records,
	    .bytes = appended.bytes,
	    .binds = kadapt_binds,
	    .drains = kadapt_drains,
	};
	for (int i = 0; i < KADAPT_SLOTS; i++)
		totals->plain += kadapt_slots[i].plain;
}

void kadapt_io_stop(void)
{
	kadapt_is_filtered = 1;
	kadapt_has_rings = 0;
	kadapt_has_stream_rings = 0;
	kadapt_device_stop();
}

/* Runs after the device is opened and before the program's constructors. */
__attribute__((constructor(102))) static void begin_io(void)
{
	if (!&kadapt_plan || !(kadapt_plan.flags & KADAPT_PLAN_IO))
		return;
	kadapt_is_filtered = syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
	if (kadapt_is_filtered || !(kadapt_device_query()->features & KADAPT_FEATURE_RINGS))
		return;
	kadapt_has_rings = kadapt_rings_begin();
	kadapt_has_stream_rings = kadapt_has_rings && kadapt_plan.flags & KADAPT_PLAN_STREAMS;
}
