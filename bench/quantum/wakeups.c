// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakeups COUNT: sleeps for a millisecond again and again, as an interactive neighbour does. Prints
 * how late each wakeup was, in microseconds: the median, the 99th percentile and the latest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define SLEEP_NS 1000000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static double lateness_us(void)
{
	int64_t wanted = now_ns() + SLEEP_NS;
	const struct timespec until = {wanted / NS_PER_S, wanted % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	return (double)(now_ns() - wanted) / 1e3;
}

static int by_size(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

int main(int count, char **words)
{
	long wakeups = count == 2 ? strtol(words[1], NULL, 10) : 0;
	double *late = wakeups > 0 ? calloc((size_t)wakeups, sizeof(*late)) : NULL;

	if (!late) {
		fprintf(stderr, "usage: wakeups COUNT\n");
		return 2;
	}
	for (long i = 0; i < wakeups; i++)
		late[i] = lateness_us();
	qsort(late, (size_t)wakeups, sizeof(*late), by_size);
	printf("%.1f %.1f %.1f\n", late[wakeups / 2], late[wakeups * 99 / 100], late[wakeups - 1]);
	return 0;
}
