/* SPDX-License-Identifier: GPL-2.0-only */
/* Ticks: the processor's time stamp counter, and how fast it counts. */
#ifndef _KADAPT_PROBE_TICKS_H
#define _KADAPT_PROBE_TICKS_H

#include <linux/types.h>

#ifdef CONFIG_UML

/* User-Mode Linux can read the counter, but its get_cycles() does not. */
static __always_inline u64 kadapt_probe_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

void kadapt_probe_ticks_begin(void);
u32 kadapt_probe_ticks_khz(void);

/* The host's kernel has looked after the counter; User-Mode Linux can't. */
static inline bool kadapt_probe_ticks_unstable(void)
{
	return false;
}

#else

#include <linux/timex.h>
#include <asm/tsc.h>

static __always_inline u64 kadapt_probe_ticks(void)
{
	return get_cycles();
}

static inline void kadapt_probe_ticks_begin(void)
{
}

static inline u32 kadapt_probe_ticks_khz(void)
{
	return tsc_khz;
}

static inline bool kadapt_probe_ticks_unstable(void)
{
	return check_tsc_unstable();
}

#endif

#endif /* _KADAPT_PROBE_TICKS_H */
