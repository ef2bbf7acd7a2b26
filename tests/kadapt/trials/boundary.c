// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * boundary VISITS: a program whose trial has ended, because its visits differ too much,
 * enters two phases in turn. Its clock is its own. With -DQUANTUM_NS=N both phases have a quantum.
 */
#include <stdlib.h>
#include <time.h>

#include "libkadapt.h"

#ifndef QUANTUM_NS
#define QUANTUM_NS 0
#endif

struct planted_plan {
	struct kadapt_plan plan;
	struct kadapt_plan_policy policy[2];
};

const struct planted_plan planted __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI, .policies = 2, .flags = KADAPT_PLAN_IO | KADAPT_PLAN_TRIALS},
    .policy = {{.phase = 0, .quantum_ns = QUANTUM_NS, .tried = KADAPT_TRY_BATCHES, .visits = 400},
	       {.phase = 1, .quantum_ns = QUANTUM_NS}},
};

static long milliseconds;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = milliseconds / 1000;
	now->tv_nsec = milliseconds % 1000 * 1000000;
	return 0;
}

static void visit(void)
{
	kadapt_phase_enter(0);
	kadapt_phase_enter(1);
}

int main(int count, char **words)
{
	long visits = count == 2 ? strtol(words[1], NULL, 10) : 0;

	for (int i = 0; i < 100; i++) {
		milliseconds += i & 1 ? 10 : 100;
		visit();
	}
	for (long i = 0; i < visits; i++)
		visit();
	return 0;
}
