// SPDX-License-Identifier: GPL-2.0-or-later
/* How often the timer interrupts a task that only computes. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lab.h"

#define SECOND 1e9

/* The processor's own timer, or the machine's timer, which has the first interrupt line. */
static bool is_timer(const char *row)
{
	return strncmp(row, "LOC:", 4) == 0 || strncmp(row, "0:", 2) == 0;
}

/* Counts the timers' interrupts since boot, on all processors. */
static int timer_interrupts(double *count)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[512];
	int error = -ENODATA;

	if (!file)
		return -errno;
	*count = 0;
	while (fgets(line, sizeof(line), file)) {
		char *row = line + strspn(line, " ");
		unsigned long each;
		int length;

		if (!is_timer(row))
			continue;
		for (row = strchr(row, ':') + 1; sscanf(row, "%lu%n", &each, &length) == 1;
		     row += length)
			*count += each;
		error = 0;
	}
	fclose(file);
	return error;
}

static int sample_interrupts(long unused, double *to)
{
	double before, after, start, end;
	int error = timer_interrupts(&before);

	(void)unused;
	if (error)
		return error;
	start = now();
	compute(SECOND);
	end = now();
	error = timer_interrupts(&after);
	*to = (after - before) / (end - start) * SECOND;
	return error;
}

const struct operation timer_operations[] = {
    {
	.name = "timer_interrupts",
	.unit = "per second",
	.batch = 1,
	.rounds = 1,
	.sample = sample_interrupts,
    },
    {0},
};
