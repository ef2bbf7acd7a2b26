// SPDX-License-Identifier: GPL-2.0-or-later
/* The clock of all measurements, and ways to spend time without the kernel. */
#include <stdlib.h>
#include <time.h>

#include "lab.h"

#define READINGS 101

/* Nanoseconds since boot. In the lab these are instructions. */
double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static int by_size(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

double median(double *values, int count)
{
	qsort(values, count, sizeof(*values), by_size);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The difference of two readings with nothing between them. */
double clock_cost(void)
{
	double costs[READINGS];

	for (int i = 0; i < READINGS; i++) {
		double start = now();

		costs[i] = now() - start;
	}
	return median(costs, READINGS);
}

/* Each turn is two instructions. */
void compute_exactly(long instructions)
{
	long turns = instructions / 2;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

/* Compute for this many nanoseconds. */
void compute(double nanoseconds)
{
	double end = now() + nanoseconds;

	while (now() < end)
		compute_exactly(100000);
}
