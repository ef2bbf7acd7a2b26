// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kadapt-selftest [NAME...]: every promise of uapi/kadapt.h, produced on purpose;
 * only the cases whose name begins with a NAME. Wants to be root and alone on
 * the machine.
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

int main(int count, char **arguments)
{
	const struct test_case *const tables[] = {
	    error_cases, counter_cases, slice_cases, latency_cases, ring_cases, NULL,
	};
	cpu_set_t first;

	if (count == 2 && !strcmp(arguments[1], SLICE_AFTER_EXEC))
		return slice_after_exec();
	if (access(DEVICE, F_OK)) {
		note(DEVICE " is missing");
		return SKIPPED;
	}
	/* All on one processor: competing for it is what this is about. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	return run_cases(tables, arguments + 1);
}
