// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <sys/resource.h>
#include <time.h>

#include "trials/clocks.h"

#define SECOND 1e9

double kadapt_clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * SECOND + (double)now.tv_nsec;
}

double kadapt_now_ns(void)
{
	return kadapt_clock_read(CLOCK_MONOTONIC);
}

static uint64_t nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

struct kadapt_used kadapt_used_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct kadapt_used){
	    .task_ns = nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime),
	    .system_ns = nanoseconds(&usage.ru_stime),
	    .faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt,
	    .involuntary_switches = (uint64_t)usage.ru_nivcsw,
	};
}

struct kadapt_used kadapt_used_since(const struct kadapt_used *begun)
{
	struct kadapt_used now = kadapt_used_now();

	now.task_ns -= begun->task_ns;
	now.system_ns -= begun->system_ns;
	now.faults -= begun->faults;
	now.involuntary_switches -= begun->involuntary_switches;
	return now;
}

/* The price of a clock read; on User-Mode Linux that is a system call. */
double kadapt_price_of_clock(void)
{
	double first = kadapt_now_ns();

	for (int i = 0; i < 3; i++)
		kadapt_now_ns();
	return (kadapt_now_ns() - first) / 4;
}
