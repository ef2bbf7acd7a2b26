// SPDX-License-Identifier: GPL-2.0-only
/* A function whose variant is seen in what it returns. */
#include <kadence/unit.h>
#include <linux/timex.h>

#define MORE 100000

KADENCE_REPLACES(do_adjtimex, int, struct __kernel_timex *clock)
{
	return MORE + KADENCE_ORIGINAL(do_adjtimex)(clock);
}

KADENCE_UNIT;
