// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Enters two phases in turn, as an adapted program does. Without ADAPTED it is the plain program,
 * with the same output. The argument is the least number of seconds to run.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 5

#ifdef ADAPTED
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 2,
    .policy = {{.phase = 0}, {.phase = 1, .quantum_ns = 50000000}},
};
#else
static void kadapt_phase_enter(uint32_t phase)
{
	(void)phase;
}
#endif

static uint64_t work(uint64_t state)
{
	for (int i = 0; i < 100000; i++)
		state = state * 6364136223846793005 + 1442695040888963407;
	return state;
}

int main(int count, char *arguments[])
{
	const time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 0);
	uint64_t state = 1;

	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t phase = 0; phase < 2; phase++) {
			kadapt_phase_enter(phase);
			state = work(state);
		}
	}
	while (time(NULL) < end)
		work(state);
	printf("%" PRIu64 "\n", state);
	return 0;
}
