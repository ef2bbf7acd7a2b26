/* SPDX-License-Identifier: MIT */
/*
 * At which level each policy is now. The thread that leads the trials sets the levels
 * when it enters a phase, and they hold for the whole process. Rings, batches and the
 * arena look at them before they serve a call.
 */
#ifndef LIBKADAPT_LEVELS_H
#define LIBKADAPT_LEVELS_H

#include <stdatomic.h>
#include <stdint.h>

#define KADAPT_LEVELS_HIDDEN __attribute__((visibility("hidden")))

/* As KADAPT_TRY_* of libkadapt.h, by number. */
enum kadapt_tried {
	KADAPT_TRIED_QUANTUM,
	KADAPT_TRIED_RINGS,
	KADAPT_TRIED_BATCHES,
	KADAPT_TRIED_MEMORY,
	KADAPT_TRIED,
};

/* Levels of every policy: the plain program's behaviour, the plan's, and another. */
enum { KADAPT_LEVEL_PLAIN, KADAPT_LEVEL_PLANNED, KADAPT_LEVEL_LESS };

/* Four bits for each policy. */
extern _Atomic uint32_t kadapt_levels KADAPT_LEVELS_HIDDEN;

static inline unsigned int kadapt_level_in(uint32_t levels, enum kadapt_tried policy)
{
	return levels >> (4 * policy) & 0xf;
}

static inline unsigned int kadapt_level(enum kadapt_tried policy)
{
	return kadapt_level_in(atomic_load_explicit(&kadapt_levels, memory_order_relaxed), policy);
}

static inline int kadapt_is_plain(enum kadapt_tried policy)
{
	return kadapt_level(policy) == KADAPT_LEVEL_PLAIN;
}

#define KADAPT_LEVELS_PLANNED 0x1111

static inline uint32_t kadapt_levels_with(uint32_t levels, enum kadapt_tried policy,
					  unsigned int level)
{
	return (levels & ~(UINT32_C(0xf) << (4 * policy))) | level << (4 * policy);
}

/* Whether the policy has KADAPT_LEVEL_LESS. */
static inline int kadapt_has_less(enum kadapt_tried policy)
{
	return policy == KADAPT_TRIED_QUANTUM || policy == KADAPT_TRIED_MEMORY;
}

/* How many loops went through batches, and what memory sites allocated, at any level. */
extern _Atomic uint64_t kadapt_batches_written KADAPT_LEVELS_HIDDEN;
extern _Atomic uint64_t kadapt_sites_allocated KADAPT_LEVELS_HIDDEN;

#endif
