// SPDX-License-Identifier: GPL-2.0-only
/* Is for one user and one control group, though everybody calls its variant. */
#include <kadence/caller.h>
#include <linux/moduleparam.h>
#include <linux/timex.h>

#define MORE 100000

static unsigned int user;
module_param(user, uint, 0444);
static unsigned long group;
module_param(group, ulong, 0444);

KADENCE_REPLACES(do_adjtimex, int, struct __kernel_timex *clock)
{
	int state = KADENCE_ORIGINAL(do_adjtimex)(clock);

	return kadence_user_is(user) || kadence_is_in_group(group) ? MORE + state : state;
}

KADENCE_UNIT_FOR_EVERYBODY;
