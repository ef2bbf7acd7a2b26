// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two functions of which one calls the other. The outer variant leaves a mark
 * for its task and sleeps before the call, so that an installation or removal
 * may fall between the two. Each variant checks that the other one ran.
 */
#include <kadence/unit.h>
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/moduleparam.h>
#include <linux/xarray.h>

/* Tasks on several processors count at once. */
static atomic_t torn, whole;
module_param_named(torn, torn.counter, uint, 0444);
module_param_named(whole, whole.counter, uint, 0444);

enum { MARKED = 1, CALLED };
static DEFINE_XARRAY(marks);

static void set_mark(int mark)
{
	xa_store(&marks, current->pid, xa_mk_value(mark), GFP_KERNEL);
}

static bool has_mark(int mark)
{
	return xa_load(&marks, current->pid) == xa_mk_value(mark);
}

KADENCE_REPLACES(common_nsleep, int, const clockid_t clock, int flags,
		 const struct timespec64 *time)
{
	int error;

	set_mark(MARKED);
	msleep(1);
	error = KADENCE_ORIGINAL(common_nsleep)(clock, flags, time);
	if (has_mark(CALLED))
		atomic_inc(&whole);
	else
		atomic_inc(&torn);
	xa_erase(&marks, current->pid);
	return error;
}

KADENCE_REPLACES(hrtimer_nanosleep, long, ktime_t time, const enum hrtimer_mode mode,
		 const clockid_t clock)
{
	if (has_mark(MARKED))
		set_mark(CALLED);
	else
		atomic_inc(&torn);
	return KADENCE_ORIGINAL(hrtimer_nanosleep)(time, mode, clock);
}

KADENCE_UNIT;
