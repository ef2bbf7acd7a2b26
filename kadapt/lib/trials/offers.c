// SPDX-License-Identifier: MIT
#include "base/optional.h"
#include "kadapt.h"
#include "libkadapt.h"
#include "slice/slice.h"
#include "trials/offers.h"

void kadapt_levels_set(uint32_t levels)
{
	uint32_t before = atomic_exchange_explicit(&kadapt_levels, levels, memory_order_relaxed);

	if (kadapt_level_in(before, KADAPT_TRIED_RINGS) &&
	    !kadapt_level_in(levels, KADAPT_TRIED_RINGS) && kadapt_rings_unbind)
		kadapt_rings_unbind();
	kadapt_slices_set_level(kadapt_level_in(levels, KADAPT_TRIED_QUANTUM));
}

static uint64_t blocks_served(void)
{
	struct kadapt_memory_totals totals = {0};

	if (kadapt_memory_count)
		kadapt_memory_count(&totals);
	return totals.blocks;
}

/* A ring may stay bound for many visits, so binds would not tell. */
static uint64_t records_appended(void)
{
	struct kadapt_io_totals totals = {0};

	if (kadapt_io_count)
		kadapt_io_count(&totals);
	return totals.appends;
}

static int has_device_quantum(void)
{
	return !!(kadapt_device_query()->features & KADAPT_FEATURE_QUANTUM);
}

uint64_t kadapt_activity(enum kadapt_tried policy)
{
	static uint64_t entered;

	switch (policy) {
	case KADAPT_TRIED_MEMORY:
		return blocks_served();
	case KADAPT_TRIED_RINGS:
		return records_appended();
	case KADAPT_TRIED_BATCHES:
		return kadapt_batches_written;
	default:
		/* The driver's quantum holds whenever its phase is entered. */
		return has_device_quantum() ? ++entered : kadapt_slices_asked();
	}
}

int kadapt_is_offered(enum kadapt_tried policy)
{
	const struct kadapt_query *query = kadapt_device_query();

	switch (policy) {
	case KADAPT_TRIED_MEMORY:
		return kadapt_memory_count && kadapt_plan.flags & KADAPT_PLAN_MEMORY;
	case KADAPT_TRIED_RINGS:
		return kadapt_io_count && query->features & KADAPT_FEATURE_RINGS;
	case KADAPT_TRIED_BATCHES:
		return kadapt_io_count && kadapt_plan.flags & KADAPT_PLAN_IO;
	default:
		return kadapt_has_slices || has_device_quantum();
	}
}
