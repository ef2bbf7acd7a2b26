// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chase KIBIBYTES STEPS: follows pointers in random order through a working set, each step a
 * cache line that depends on the last. Prints the processor seconds of the steps.
 *
 * With -DQUANTUM_NS=N it has a plan whose phase 0 has that quantum, as an adapted program, and
 * enters it once. Without, it is the plain program.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef QUANTUM_NS
#include "libkadapt.h"

struct planted_plan {
	struct kadapt_plan plan;
	struct kadapt_plan_policy policy[1];
};

const struct planted_plan planted __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI, .policies = 1},
    .policy = {{.phase = 0, .quantum_ns = QUANTUM_NS}},
};
#endif

struct line {
	struct line *next;
	char rest[56];
};

static uint32_t random_below(uint32_t bound)
{
	static uint64_t seed = 42;

	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (uint32_t)((seed >> 32) * bound >> 32);
}

/* Sattolo's shuffle makes one cycle of all lines. */
static struct line *make_cycle(uint32_t count)
{
	struct line *lines = aligned_alloc(64, count * sizeof(*lines));
	uint32_t *order = malloc(count * sizeof(*order));

	if (!lines || !order)
		exit(1);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t other = random_below(i), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 0; i < count; i++)
		lines[order[i]].next = &lines[order[(i + 1) % count]];
	free(order);
	return lines;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **words)
{
	uint32_t kibibytes = count == 3 ? (uint32_t)strtoul(words[1], NULL, 10) : 0;
	long steps = count == 3 ? strtol(words[2], NULL, 10) : 0;
	const struct line *at;
	double begun;

	if (!kibibytes || steps <= 0) {
		fprintf(stderr, "usage: chase KIBIBYTES STEPS\n");
		return 2;
	}
	at = make_cycle(kibibytes * 1024 / sizeof(struct line));
#ifdef QUANTUM_NS
	kadapt_phase_enter(0);
#endif
	begun = seconds();
	while (steps--)
		at = at->next;
	printf("%.6f\n", seconds() - begun);
	return at ? 0 : 1;
}
