// SPDX-License-Identifier: GPL-2.0-only
/* Counts how often a task waits, in a function in which tasks sleep for ever. */
#include <kadence/unit.h>
#include <linux/moduleparam.h>

static unsigned int waits;
module_param(waits, uint, 0444);

KADENCE_BEFORE(schedule, void)
{
	waits++;
}

KADENCE_UNIT;
