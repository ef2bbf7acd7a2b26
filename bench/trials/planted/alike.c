// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * alike VISITS: a program whose tried policy changes nothing. Each visit reads and writes
 * an array in a scattered order and computes, so it is as noisy as the machine.
 */
#include <stdlib.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "planted/visits.h"

#define WORDS (1 << 18)
#define STEPS 1500000

PLAN(KADAPT_TRY_BATCHES, 0, KADAPT_PLAN_IO)

static uint64_t array[WORDS];

static uint64_t visit(uint32_t number)
{
	uint64_t state = number;

	kadapt_batches_written++; /* or the policy would count as idle */
	for (uint32_t i = 0; i < STEPS; i++) {
		state = compute(state, 1);
		array[state >> 46] += state;
	}
	return array[number % WORDS];
}

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	make_visits((uint32_t)strtoul(words[1], NULL, 10), KADAPT_TRIED_BATCHES, visit);
	return 0;
}
