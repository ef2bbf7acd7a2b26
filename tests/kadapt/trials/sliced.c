// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sliced VISITS OWN_NS NEIGHBOURS: a program whose phase 0 tries a quantum, on a kernel that
 * honours slices and on a clock of its own. The quantum takes a tenth off, and a tenth of the
 * quantum takes more. If OWN_NS is not 0, the program has asked for that slice itself. In each
 * visit, each of the neighbours takes the processor from the program once.
 *
 * Prints the level of each visit as a digit, and on standard error each visit whose slice is not
 * that of its level.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "device.h"
#include "own_clock.h"

const struct planted_plan planted __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI, .policies = 2, .flags = KADAPT_PLAN_TRIALS, .id = 1},
    .policy =
	{{.phase = 0, .quantum_ns = 5 * NS_PER_S, .tried = KADAPT_TRY_QUANTUM, .visits = 2000},
	 {.phase = 1}},
};

static long neighbours, switches;

/* The library's calls come here, because the program's own function wins. */
int getrusage(__rusage_who_t who, struct rusage *usage)
{
	(void)who;
	*usage = (struct rusage){.ru_nivcsw = switches};
	return 0;
}

static void visit(const uint64_t slices[3])
{
	static const double takes[] = {1, 0.9, 0.7};
	unsigned int level;

	kadapt_phase_enter(0);
	level = kadapt_level(KADAPT_TRIED_QUANTUM);
	if (slice_of(0) != slices[level])
		fprintf(stderr, "level %u: %llu ns\n", level, (unsigned long long)slice_of(0));
	putchar((int)('0' + level));
	switches += neighbours;
	clock_now += VISIT_NS * takes[level];
	kadapt_phase_enter(1);
	if (slice_of(0) != slices[KADAPT_LEVEL_PLAIN])
		fprintf(stderr, "after: %llu ns\n", (unsigned long long)slice_of(0));
	clock_now += VISIT_NS / 10;
}

int main(int count, char **words)
{
	uint64_t own, slices[3];

	if (count != 4)
		return 2;
	own = strtoull(words[2], NULL, 10);
	neighbours = strtol(words[3], NULL, 10);
	slices[0] = slices[1] = slices[2] = own;
	if (!own) {
		slices[KADAPT_LEVEL_PLAIN] = slice_of(0);
		slices[KADAPT_LEVEL_PLANNED] = 100 * NS_PER_MS;
		slices[KADAPT_LEVEL_LESS] = 10 * NS_PER_MS;
	} else if (set_slice(own)) {
		return 1;
	}
	for (long i = strtol(words[1], NULL, 10); i > 0; i--)
		visit(slices);
	putchar('\n');
	return 0;
}
