// SPDX-License-Identifier: GPL-2.0-or-later
/* An adapted program of two phases, in which it prints what adjtimex() gives. */
#include <stdio.h>
#include <sys/timex.h>

#include "libkadapt.h"

#define MORE 100000

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 2,
    .policy = {{.phase = 0}, {.phase = 1}},
};

static void tell(uint32_t phase)
{
	struct timex clock = {0};

	kadapt_phase_enter(phase);
	printf("phase %u: %s\n", phase, adjtimex(&clock) >= MORE ? "variant" : "original");
}

int main(void)
{
	tell(0);
	tell(1);
	tell(0);
	return 0;
}
