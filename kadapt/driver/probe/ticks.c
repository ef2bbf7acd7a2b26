// SPDX-License-Identifier: GPL-2.0-only
/* The rate of the time stamp counter by the clock of User-Mode Linux. */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/time64.h>

#include "probe/ticks.h"

#define TICKS_PER_NS_TO_KHZ	(NSEC_PER_SEC / MSEC_PER_SEC)

static u64 first_ticks;
static ktime_t first_time;

void kadapt_probe_ticks_begin(void)
{
	first_time = ktime_get();
	first_ticks = kadapt_probe_ticks();
}

u32 kadapt_probe_ticks_khz(void)
{
	u64 ns = ktime_to_ns(ktime_sub(ktime_get(), first_time));
	u64 ticks = kadapt_probe_ticks() - first_ticks;

	return mul_u64_u64_div_u64(ticks, TICKS_PER_NS_TO_KHZ, ns ?: 1);
}
