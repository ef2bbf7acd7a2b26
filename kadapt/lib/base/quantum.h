/* SPDX-License-Identifier: MIT */
/* A phase whose quantum is tried has several policies in the driver, one for each level. */
#ifndef LIBKADAPT_QUANTUM_H
#define LIBKADAPT_QUANTUM_H

#include <stdint.h>

#include "libkadapt.h"
#include "base/levels.h"

/* Phases whose quantum can be tried: the driver knows 256 numbers. */
#define KADAPT_QUANTUM_PHASES 64

static inline int kadapt_is_quantum_tried(const struct kadapt_plan_policy *planned)
{
	return planned->phase < KADAPT_QUANTUM_PHASES &&
	       planned->tried & 1U << KADAPT_TRIED_QUANTUM;
}

/* The driver's number of such a phase at a level of its quantum. */
static inline uint32_t kadapt_number_at(uint32_t phase, unsigned int level)
{
	static const uint32_t beyond[] = {128, 0, 192};

	return phase + beyond[level];
}

static inline uint64_t kadapt_quantum_at(uint64_t planned_ns, unsigned int level)
{
	return level == KADAPT_LEVEL_PLAIN  ? 0
	       : level == KADAPT_LEVEL_LESS ? planned_ns / 10
					    : planned_ns;
}

#endif
