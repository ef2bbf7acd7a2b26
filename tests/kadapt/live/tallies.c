// SPDX-License-Identifier: GPL-2.0-only
/* A shadow of each task counts its calls of getrusage(), which are seen in what that gives. */
#include <kadence/shadow.h>
#include <linux/resource.h>
#include <linux/sched.h>

struct tally {
	int calls;
};

KADENCE_REPLACES(getrusage, void, struct task_struct *task, int who, struct rusage *usage)
{
	struct tally *tally = kadence_shadow_of(task, sizeof(*tally));

	KADENCE_ORIGINAL(getrusage)(task, who, usage);
	if (tally)
		usage->ru_nsignals = ++tally->calls;
}

KADENCE_UNIT;
