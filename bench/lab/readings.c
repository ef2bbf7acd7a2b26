// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ways to read a file's records one after the other: PLACE.METHOD.SIZE. Each record begins with its
 * number, which is looked at.
 *
 * In lab-adapted, `read` is what the compiler makes of it in an adapted program: see redirected.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "place.h"
#include "redirected.h"

#define BUFFER_BYTES 65536
#define STDIO_BYTES 4096

static int write_records(long size)
{
	for (long i = 0; i < RECORDS_PER_ROUND; i++)
		if (write(place.in, record_of(i), size) != size)
			return errno ? -errno : -EIO;
	return 0;
}

static int open_records(long argument)
{
	int error = place_open(argument);

	if (!error)
		error = write_records(SIZE_OF(argument));
	return error ? error : place_open_again();
}

static int first_record(long unused)
{
	(void)unused;
	return lseek(place.out, 0, SEEK_SET) ? -errno : 0;
}

static int is_number(const char *record, long number)
{
	uint64_t found;

	memcpy(&found, record, sizeof(found));
	return found == (uint64_t)number;
}

/* The record of this number, or why not. */
static int result(ssize_t moved, long wanted, const char *record, long number)
{
	if (moved != wanted)
		return moved < 0 ? -errno : -EIO;
	return is_number(record, number) ? 0 : -EILSEQ;
}

static int run_read(long argument, long count)
{
	long size = SIZE_OF(argument);
	char *record = records[0];
	int error = 0;

	for (long i = 0; !error && i < count; i++)
		error = result(read(place.out, record, size), size, record, i);
	return error;
}

static int run_readv(long argument, long count)
{
	struct iovec vector[RECORDS_PER_CALL];
	long size = SIZE_OF(argument);
	int error = 0;

	for (int i = 0; i < RECORDS_PER_CALL; i++)
		vector[i] = (struct iovec){.iov_base = records[i], .iov_len = size};
	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		error = result(readv(place.out, vector, RECORDS_PER_CALL), size * RECORDS_PER_CALL,
			       records[0], i);
		for (long j = 1; !error && j < RECORDS_PER_CALL; j++)
			error = is_number(records[j], i + j) ? 0 : -EILSEQ;
	}
	return error;
}

/* A buffer of the program's own, filled when it is empty. */
static int run_bufferread(long argument, long count)
{
	static char buffer[BUFFER_BYTES];
	long size = SIZE_OF(argument), used = 0, filled = 0;
	char *record = records[0];
	int error = 0;

	for (long i = 0; !error && i < count; i++) {
		if (used == filled) {
			filled = read(place.out, buffer, sizeof(buffer));
			used = 0;
		}
		if (filled <= 0)
			return filled ? -errno : -EIO;
		memcpy(record, buffer + used, size);
		used += size;
		error = result(size, size, record, i);
	}
	return error;
}

static int run_fread(long argument, long count)
{
	static char buffer[STDIO_BYTES];
	long size = SIZE_OF(argument);
	FILE *stream = fdopen(dup(place.out), "r");
	int error = stream ? 0 : -errno;

	if (!error && setvbuf(stream, buffer, _IOFBF, sizeof(buffer)))
		error = -errno;
	for (long i = 0; !error && i < count; i++)
		error = result(fread(records[0], size, 1, stream) ? size : 0, size, records[0], i);
	if (stream)
		fclose(stream);
	return error;
}

/* The file in memory: its records need not even be copied, but here they are. */
static int run_mapping(long argument, long count)
{
	long size = SIZE_OF(argument);
	char *map = mmap(NULL, size * count, PROT_READ, MAP_SHARED, place.out, 0);
	int error = 0;

	if (map == MAP_FAILED)
		return -errno;
	for (long i = 0; !error && i < count; i++) {
		memcpy(records[0], map + i * size, size);
		error = result(size, size, records[0], i);
	}
	munmap(map, size * count);
	return error;
}

#define METHOD(place_name, kind, method, bytes)                                                    \
	{                                                                                          \
		.name = #place_name "." #method "." #bytes, .unit = "ns",                          \
		.argument = PLACED(kind, bytes), .batch = RECORDS_PER_ROUND,                       \
		.prepare = open_records, .rewind = first_record, .run = run_##method,              \
		.finish = place_close,                                                             \
	}

#define SIZES(place_name, kind, method)                                                            \
	METHOD(place_name, kind, method, 16), METHOD(place_name, kind, method, 64),                \
	    METHOD(place_name, kind, method, 256), METHOD(place_name, kind, method, 1024)

#define ANYWHERE(place_name, kind)                                                                 \
	SIZES(place_name, kind, read), SIZES(place_name, kind, readv),                             \
	    SIZES(place_name, kind, bufferread), SIZES(place_name, kind, fread),                   \
	    SIZES(place_name, kind, mapping)

const struct operation reading_operations[] = {
    ANYWHERE(file, PLACE_FILE),
    ANYWHERE(ext4, PLACE_EXT4),
    {0},
};
