// SPDX-License-Identifier: GPL-2.0-only
/* Keeps itself on the stack of each task that sleeps, which KADENCE_BEFORE avoids. */
#include <kadence/unit.h>

KADENCE_REPLACES(schedule, void, void)
{
	KADENCE_ORIGINAL(schedule)();
	barrier();
}

KADENCE_UNIT;
