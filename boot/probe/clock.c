// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures the rate of the processor's time stamp counter by this machine's own clock. */
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "probe.h"

#define PAUSE_NANOSECONDS 10000000
/* One reading that nothing interrupted is enough; a busy machine interrupts some. */
#define READINGS 16

struct reading {
	int64_t nanoseconds;
	uint64_t count;
	uint64_t width; /* counts while the clock was read: the error bound of `count` */
};

static struct reading read_once(void)
{
	uint64_t before = __rdtsc();
	struct timespec now;
	uint64_t width;

	clock_gettime(CLOCK_MONOTONIC, &now);
	width = __rdtsc() - before;
	return (struct reading){
	    .nanoseconds = now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
	    .count = before + width / 2,
	    .width = width,
	};
}

static struct reading read_both(void)
{
	struct reading best = read_once();

	for (int i = 1; i < READINGS; i++) {
		struct reading next = read_once();

		if (next.width < best.width)
			best = next;
	}
	return best;
}

/* Returns the rate in kHz. */
struct answer check_clock(const struct question *question)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
	struct reading first = read_both();
	struct reading last;

	(void)question;
	if (nanosleep(&pause, NULL))
		return failed("nanosleep");
	last = read_both();
	return fine((long)((double)(last.count - first.count) * 1e6 /
			   (double)(last.nanoseconds - first.nanoseconds)));
}
