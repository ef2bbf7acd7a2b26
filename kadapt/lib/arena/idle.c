// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <time.h>

#include "arena/budget.h"
#include "arena/idle.h"
#include "arena/ranges.h"
#include "arena/zones.h"
#include "pages/pages.h"

#define NS_PER_SECOND INT64_C(1000000000)
/* Between two looks. So a page is marked at most five times a second. */
#define LOOK_NS (NS_PER_SECOND / 10)

static enum { UNKNOWN, POSSIBLE, IMPOSSIBLE } idleness;

int kadapt_idle_is_possible(char *start, size_t bytes)
{
	if (kadapt_range_is_known())
		return 1;
	if (idleness == UNKNOWN)
		idleness = kadapt_pages_idle(start, bytes) ? POSSIBLE : IMPOSSIBLE;
	return idleness == POSSIBLE;
}

static int is_time(void)
{
	static int64_t last;
	struct timespec now;
	int64_t nanoseconds;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	nanoseconds = now.tv_sec * NS_PER_SECOND + now.tv_nsec;
	if (nanoseconds - last < LOOK_NS)
		return 0;
	last = nanoseconds;
	return 1;
}

static int mark(char *start, size_t bytes)
{
	return kadapt_pages_idle(start, bytes);
}

static int make_older(struct kadapt_zone *zone, uint32_t first)
{
	struct kadapt_span *span = &zone->table[first];

	if (span->age == KADAPT_AGE_OLD &&
	    !mark(kadapt_span_address(zone, first), (size_t)span->pages << KADAPT_PAGE_SHIFT))
		return 0;
	if (span->age != KADAPT_AGE_IDLE)
		span->age++;
	return 1;
}

static int make_all_older(struct kadapt_zone *zone)
{
	for (int bin = 0; bin < KADAPT_SPAN_BINS; bin++)
		for (uint32_t first = zone->bins[KADAPT_SPAN_KEPT][bin]; first;
		     first = zone->table[first].next)
			if (!make_older(zone, first))
				return 0;
	return 1;
}

int kadapt_idle_look(void)
{
	if (!kadapt_kept || kadapt_range_is_known() || !is_time())
		return 1;
	for (int i = 0; i < KADAPT_ZONES; i++)
		if (!make_all_older(&kadapt_zones[i]))
			idleness = IMPOSSIBLE;
	return idleness != IMPOSSIBLE;
}
