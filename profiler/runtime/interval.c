// SPDX-License-Identifier: MIT
/*
 * The length of intervals. If the user chose none, intervals adapt to the run, as in kbbv: they
 * begin short and double whenever there would be too many. The reader of the profile merges
 * earlier rows.
 */
#include "kprofile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum { MOST_ROWS = 1000, FINEST = 1000000, SHORTEST = 100000, FEWEST_INSTRUCTIONS = 100000 };

static const uint64_t second = 1000000000, millisecond = 1000000;

static uint64_t chosen, length = FINEST, before;
static bool by_instructions;

/* Ignores an invalid text without a message: the runtime prints nothing. */
void interval_choose(const char *text)
{
	char *end;
	const uint64_t value = text ? strtoull(text, &end, 10) : 0;

	if (!value)
		return;
	if (!strcmp(end, "i"))
		chosen = value < FEWEST_INSTRUCTIONS ? FEWEST_INSTRUCTIONS : value;
	else if (!strcmp(end, "ms") && value < UINT64_MAX / millisecond)
		chosen = value * millisecond;
	else if (!*end)
		chosen = value < SHORTEST ? SHORTEST : value;
	by_instructions = chosen && *end == 'i';
}

static uint64_t processor_time(void)
{
	struct timespec now;

	call_kernel(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&now, 0, 0, 0);
	return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

/* The process may have used time already, in a program before exec. */
void interval_begin(void)
{
	before = processor_time();
	length = chosen ? chosen : FINEST;
}

uint64_t interval_elapsed(void)
{
	return processor_time() - before;
}

uint64_t interval_before(void)
{
	return before;
}

uint64_t interval_length(void)
{
	return length;
}

bool interval_is_instructions(void)
{
	return by_instructions;
}

void interval_fit(uint64_t elapsed)
{
	while (!chosen && elapsed / length >= MOST_ROWS) {
		length *= 2;
		stream_begin(FRAME_INTERVAL);
		stream_number(length);
		stream_finish();
		/* The process may be killed before its end. */
		counts_write_layout();
	}
}
