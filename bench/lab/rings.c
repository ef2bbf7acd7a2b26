// SPDX-License-Identifier: GPL-2.0-or-later
/* Records written to a file through io_uring. */
#include <string.h>

#include "lab.h"
#include "submissions.h"

/*
 * io_uring's workers share the processor with the program. Medians of fewer rounds differ from boot
 * to boot.
 */
#define ENOUGH_ROUNDS 11

static char record[LARGEST_RECORD];
static int file = -1;

static int open_ring(long unused)
{
	(void)unused;
	memset(record, 'k', sizeof(record));
	file = sink_open();
	return file < 0 ? file : submissions_open();
}

static int rewind_file(long unused)
{
	(void)unused;
	return sink_rewind();
}

static int run_ring(long size, long count)
{
	int error = 0;

	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL)
		error = submissions_write(file, record, 0, size);
	return error;
}

static void close_ring(void)
{
	submissions_close();
	sink_close();
}

#define RING(bytes)                                                                                \
	{                                                                                          \
		.name = "io_uring_" #bytes, .unit = "ns", .argument = bytes,                       \
		.batch = RECORDS_PER_ROUND, .rounds = ENOUGH_ROUNDS, .prepare = open_ring,         \
		.rewind = rewind_file, .run = run_ring, .finish = close_ring,                      \
	}

const struct operation ring_operations[] = {
    RING(16),
    RING(256),
    RING(1024),
    {0},
};
