// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kadapt-selftest [NAME...]: tests every promise of uapi/kadapt.h. With NAMEs it runs
 * only the cases whose name begins with one of them. Run it as root, with nothing else
 * running on the machine.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "slice_after_exec.h"

/* If the kernel has no rings or ranges, error_cases alone tests that their calls say so. */
static const struct test_case *const with_rings[] = {
    error_cases,      counter_cases, slice_cases, latency_cases, ring_cases, ring_end_cases,
    ring_error_cases, life_cases,    batch_cases, guard_cases,	 NULL,
};

static const struct test_case *const with_memory[] = {
    error_cases,       counter_cases,	    slice_cases, latency_cases, ring_cases,
    ring_end_cases,    ring_error_cases,    life_cases,	 batch_cases,	memory_cases,
    memory_life_cases, memory_random_cases, group_cases, guard_cases,	NULL,
};

static const struct test_case *const without_rings[] = {
    error_cases, counter_cases, slice_cases, latency_cases, NULL,
};

static const struct test_case *const *cases_for_this_kernel(void)
{
	if (has_memory())
		return with_memory;
	return has_rings() ? with_rings : without_rings;
}

int main(int count, char **arguments)
{
	cpu_set_t first;

	if (count == 2 && !strcmp(arguments[1], SLICE_AFTER_EXEC))
		return slice_after_exec();
	if (count == 2 && !strcmp(arguments[1], NO_CASE))
		return PASSED;
	if (access(DEVICE, F_OK)) {
		note(DEVICE " is missing");
		return SKIPPED;
	}
	/* Keep all processes on one processor, so that they compete for it. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	return run_cases(cases_for_this_kernel(), arguments + 1);
}
