/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visits of a phase with a plan made by hand, in which one policy is tried. */
#ifndef BENCH_TRIALS_VISITS_H
#define BENCH_TRIALS_VISITS_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "libkadapt.h"
#include "base/levels.h"

/* So that the run begins plain, and no other level of a policy is tried. */
#define PLANNED_VISITS 399
#define LEAST_BYTES (128 << 10)

struct planted_plan {
	struct kadapt_plan plan;
	struct kadapt_plan_policy policy[2];
};

#ifdef PLAIN
#define PLAN(policy_, quantum_, flags_) /* none, so no phase is entered */
#else
#define PLAN(policy_, quantum_, flags_)                                                            \
	const struct planted_plan planted __asm__("kadapt_plan") = {                               \
	    .plan = {.abi = KADAPT_PLAN_ABI,                                                       \
		     .policies = 2,                                                                \
		     .flags = KADAPT_PLAN_TRIALS | (flags_),                                       \
		     .keep_bytes = 0,                                                              \
		     .fresh_least_bytes = LEAST_BYTES,                                             \
		     .id = 0x0123456789abcdef},                                                    \
	    .policy = {{.phase = 0,                                                                \
			.quantum_ns = (quantum_),                                                  \
			.tried = (policy_),                                                        \
			.visits = PLANNED_VISITS},                                                 \
		       {.phase = 1}},                                                              \
	};
#endif

static inline void enter(uint32_t phase)
{
#ifdef PLAIN
	(void)phase;
#else
	kadapt_phase_enter(phase);
#endif
}

static inline int is_at_level(enum kadapt_tried policy)
{
#ifdef PLAIN
	(void)policy;
	return 0;
#else
	return !kadapt_is_plain(policy);
#endif
}

/* A few nanoseconds or instructions for each step. */
static inline uint64_t compute(uint64_t seed, uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++)
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return seed;
}

static inline void make_visits(uint32_t visits, enum kadapt_tried policy,
			       uint64_t (*visit)(uint32_t number))
{
	uint64_t sum = 0;
	uint32_t at_level = 0;

	for (uint32_t i = 0; i < visits; i++) {
		enter(0);
		at_level += (uint32_t)is_at_level(policy);
		sum += visit(i);
		enter(1);
	}
	printf("%" PRIu64 "\n", sum);
	fprintf(stderr, "%" PRIu32 "\n", at_level);
}

#endif
