// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records written to a file and read from it, one after the other.
 *
 * Every round begins with an empty file. So the cost of a record includes its share of the file's
 * new pages, as in a program that writes results.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lab.h"

static char record[LARGEST_RECORD];
static int file = -1;

static int open_file(long unused)
{
	(void)unused;
	memset(record, 'k', sizeof(record));
	file = sink_open();
	return file < 0 ? file : 0;
}

static int empty_file(long unused)
{
	(void)unused;
	return sink_rewind();
}

static int result(ssize_t moved, long wanted)
{
	if (moved == wanted)
		return 0;
	return moved < 0 ? -errno : -EIO;
}

static int run_write(long size, long count)
{
	int error = 0;

	for (long i = 0; !error && i < count; i++)
		error = result(write(file, record, size), size);
	return error;
}

static int run_writev(long size, long count)
{
	struct iovec records[RECORDS_PER_CALL];
	int error = 0;

	for (int i = 0; i < RECORDS_PER_CALL; i++)
		records[i] = (struct iovec){.iov_base = record, .iov_len = size};
	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL)
		error = result(writev(file, records, RECORDS_PER_CALL), size * RECORDS_PER_CALL);
	return error;
}

static int full_file(long size)
{
	int error = open_file(size);

	return error ? error : run_write(size, RECORDS_PER_ROUND);
}

static int first_record(long unused)
{
	(void)unused;
	return lseek(file, 0, SEEK_SET) ? -errno : 0;
}

static int run_read(long size, long count)
{
	int error = 0;

	for (long i = 0; !error && i < count; i++)
		error = result(read(file, record, size), size);
	return error;
}

#define WRITE(bytes)                                                                               \
	{                                                                                          \
		.name = "write_" #bytes, .unit = "ns", .argument = bytes,                          \
		.batch = RECORDS_PER_ROUND, .crossings = 1, .prepare = open_file,                  \
		.rewind = empty_file, .run = run_write, .finish = sink_close,                      \
	}

#define WRITEV(bytes)                                                                              \
	{                                                                                          \
		.name = "writev_" #bytes, .unit = "ns", .argument = bytes,                         \
		.batch = RECORDS_PER_ROUND, .prepare = open_file, .rewind = empty_file,            \
		.run = run_writev, .finish = sink_close,                                           \
	}

#define READ(bytes)                                                                                \
	{                                                                                          \
		.name = "read_" #bytes, .unit = "ns", .argument = bytes,                           \
		.batch = RECORDS_PER_ROUND, .crossings = 1, .prepare = full_file,                  \
		.rewind = first_record, .run = run_read, .finish = sink_close,                     \
	}

const struct operation file_operations[] = {
    WRITE(16),	  WRITE(256), WRITE(1024), WRITEV(16), WRITEV(256),
    WRITEV(1024), READ(16),   READ(256),   READ(1024), {0},
};
