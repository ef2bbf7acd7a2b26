/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A phase call that counts. At the program's end it prints PHASE=COUNT on standard error. */
#include <stdio.h>

#ifndef PHASES
#define PHASES 64
#endif

void kadapt_phase_enter(unsigned phase);
extern const int kadapt_filter_anchor;
const int kadapt_filter_anchor = 1; /* as in plans with a quantum */

static unsigned entered[PHASES];

void kadapt_phase_enter(unsigned phase)
{
	__atomic_add_fetch(&entered[phase % PHASES], 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void tell(void)
{
	for (unsigned phase = 0; phase < PHASES; phase++)
		if (entered[phase])
			fprintf(stderr, "%u=%u\n", phase, entered[phase]);
}
