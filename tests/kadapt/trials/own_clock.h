/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs with a plan made by hand and a clock of their own: time passes only where the
 * program says so. One source of a program includes this.
 */
#ifndef OWN_CLOCK_H
#define OWN_CLOCK_H

#include <math.h>
#include <time.h>

#include "libkadapt.h"

#define VISIT_NS 10e6
#ifndef CLOCK_NS
#define CLOCK_NS 0 /* nanoseconds that reading the clock takes */
#endif

struct planted_plan {
	struct kadapt_plan plan;
	struct kadapt_plan_policy policy[2];
};

static double clock_now = 1e9;

/* The library's calls come here, because the program's own function wins. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	clock_now += CLOCK_NS;
	now->tv_sec = (time_t)(clock_now / 1e9);
	now->tv_nsec = (long)fmod(clock_now, 1e9);
	return 0;
}

#endif
