/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops that write or send pieces, in the forms that programs use. main() runs each loop with
 * whole, short and failed results at each place. The calls print the addresses and never access
 * them, so the addresses need not be valid.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scripted_io.h"

struct arguments {
	const char *buffer;
	size_t total;
	size_t size;
};

static jmp_buf ended;

static void die(long where)
{
	printf("died at %ld\n", where);
	longjmp(ended, 1);
}

/* BEGIN shapes: test_gccplugin_batches.py lists those that do not become a batch, and why. */

static long send_or_die(struct arguments of)
{
	for (size_t offset = 0; offset < of.total; offset += of.size)
		if (send(3, of.buffer + offset, of.size, 0) != (ssize_t)of.size)
			die((long)offset);
	return 0;
}

static long send_quietly(struct arguments of)
{
	for (size_t offset = 0; offset < of.total; offset += 64)
		if (send(3, of.buffer + offset, 64, MSG_NOSIGNAL) < 0)
			return errno;
	return 1;
}

static long write_by_index(struct arguments of)
{
	int count = (int)(of.size ? of.total / of.size : 0);
	int index;

	for (index = 0; index < count; index++)
		if (write(1, of.buffer + (size_t)index * of.size, of.size) != (ssize_t)of.size)
			break;
	return index;
}

static long write_with_int_size(struct arguments of)
{
	int size = (int)of.size;
	int total = (int)of.total;

	for (int offset = 0; offset < total; offset += size)
		if (write(4, of.buffer + offset, size) != size)
			return -offset - 1;
	return 1;
}

static long write_ignoring_results(struct arguments of)
{
	size_t index;

	for (index = 0; index < of.total / 16; index++)
		if (write(1, of.buffer + 16 * index, of.size))
			continue;
	return (long)index;
}

static long write_what_is_left(struct arguments of)
{
	long left = (long)of.total;
	long written = 0;

	while (left > 0) {
		ssize_t result = write(1, of.buffer, of.size);
		if (result < 0)
			return -errno;
		written += result;
		of.buffer += of.size;
		left -= (long)of.size;
	}
	return written;
}

static long write_what_is_left_unsigned(struct arguments of)
{
	while (of.total >= of.size) {
		if (write(1, of.buffer, of.size) == -1)
			return -errno;
		of.buffer += of.size;
		of.total -= of.size;
	}
	return (long)of.total;
}

static long write_until_nothing_is_left(struct arguments of)
{
	size_t left = of.total;

	while (left != 0) {
		if (write(1, of.buffer, of.size) <= 0)
			return (long)left;
		left -= of.size;
		of.buffer += of.size;
	}
	return -1;
}

static long write_between_pointers(struct arguments of)
{
	const char *end = of.buffer + of.total;

	for (const char *piece = of.buffer; piece < end; piece += of.size)
		if (write(1, piece, of.size) != (ssize_t)of.size)
			return piece - of.buffer;
	return -1;
}

static long write_the_same_again(struct arguments of)
{
	for (unsigned round = 0; round < 7; round++)
		if (write(1, of.buffer, of.size) < (ssize_t)of.size)
			return round;
	return 100;
}

static long write_every_other(struct arguments of)
{
	long sum = 0;

	for (long piece = 0; piece <= 8; piece += 2)
		sum += write(5, of.buffer + 100 * piece, of.size) * (piece + 1);
	return sum;
}

static long count_failures(struct arguments of)
{
	int failures = 0;

	for (int round = 9; round > 0; round--) {
		if (write(1, of.buffer + 10 * (9 - round), of.size) != (ssize_t)of.size)
			failures++;
	}
	return failures;
}

static long write_at_least_once(struct arguments of)
{
	size_t offset = 0;

	do {
		if (write(1, of.buffer + offset, of.size) != (ssize_t)of.size)
			return (long)offset;
		offset += of.size;
	} while (offset < of.total);
	return -1;
}

static long write_narrow(struct arguments of)
{
	uint32_t size = (uint32_t)of.size;
	uint32_t offset = UINT32_MAX - 200;

	for (; offset < UINT32_MAX - 10; offset += size)
		if (write(1, of.buffer + offset, size) != (ssize_t)size)
			return offset;
	return -1;
}

static long write_backwards(struct arguments of)
{
	for (int piece = 9; piece >= 0; piece--)
		if (write(1, of.buffer + 32 * piece, of.size) != (ssize_t)of.size)
			return piece;
	return -1;
}

static long write_to_the_bound(struct arguments of)
{
	for (size_t offset = 0; offset <= of.total; offset += of.size)
		if (write(1, of.buffer + offset, of.size) != (ssize_t)of.size)
			return (long)offset;
	return -1;
}

static long write_counting_narrowly(struct arguments of)
{
	uint32_t step = (uint32_t)of.size;

	for (uint32_t offset = UINT32_MAX - 200; offset < UINT32_MAX - 10; offset += step) {
		if (write(1, of.buffer, of.size) < 0)
			return offset;
		of.buffer += 16;
	}
	return -1;
}

static long write_counting_down_narrowly(struct arguments of)
{
	uint32_t left = (uint32_t)of.total;

	while (left > 3) {
		if (write(1, of.buffer, 8) != 8)
			break;
		of.buffer += 8;
		left -= (uint32_t)of.size;
	}
	return left;
}

static long write_down_to_nothing(struct arguments of)
{
	for (long left = (long)of.total; left >= 0; left -= (long)of.size) {
		if (write(1, of.buffer, 8) == 0)
			return left;
		of.buffer += 24;
	}
	return -1;
}

static long write_by_threes(struct arguments of)
{
	for (unsigned index = 0; index != (unsigned)of.total; index += 3)
		if (write(1, of.buffer, of.size) < 0)
			return index;
	return -1;
}

static long write_at_least_one_by_index(struct arguments of)
{
	int count = (int)of.total / 16 - 2;
	int index = 0;

	do {
		if (write(1, of.buffer + 8 * (long)index, of.size) != (ssize_t)of.size)
			return index;
	} while (++index < count);
	return -1;
}

static long write_until_the_total(struct arguments of)
{
	for (int round = 0; round < 9; round++)
		if (write(1, of.buffer, of.size) == (ssize_t)of.total)
			return round;
	return -1;
}

static long write_perhaps_for_ever(struct arguments of)
{
	unsigned bound = (unsigned)of.size;

	for (unsigned index = UINT32_MAX - 5; index <= bound; index++)
		if (write(1, of.buffer, 8) < 0)
			return index;
	return -1;
}

/* END shapes */

typedef long shape(struct arguments);

static shape *const shapes[] = {
    send_or_die,
    send_quietly,
    write_by_index,
    write_with_int_size,
    write_ignoring_results,
    write_what_is_left,
    write_what_is_left_unsigned,
    write_until_nothing_is_left,
    write_between_pointers,
    write_the_same_again,
    write_every_other,
    count_failures,
    write_at_least_once,
    write_narrow,
    write_backwards,
    write_to_the_bound,
    write_counting_narrowly,
    write_counting_down_narrowly,
    write_down_to_nothing,
    write_by_threes,
    write_at_least_one_by_index,
    write_until_the_total,
    write_perhaps_for_ever,
};

static void run(int number, struct arguments of, int failing, ssize_t result)
{
	script = (struct script){failing, result, of.buffer, 0, &ended};
	printf("shape %d of %zu by %zu, call %d: %zd\n", number, of.total, of.size, failing,
	       result);
	if (setjmp(ended) == 0)
		printf("= %ld\n", shapes[number](of));
}

int main(void)
{
	static char buffer[4096];
	const size_t totals[] = {0, 1, 63, 64, 256, 500};
	const size_t sizes[] = {0, 1, 16, 64, 100, 1000, (size_t)-1};
	const int count = sizeof(shapes) / sizeof(shapes[0]);

	for (int number = 0; number < count; number++)
		for (int total = 0; total < 6; total++)
			for (int size = 0; size < 7; size++)
				for (int failing = -1; failing < 6; failing++)
					for (ssize_t result = -1; result < 3; result++)
						run(number,
						    (struct arguments){buffer, totals[total],
								       sizes[size]},
						    failing, result);
	return 0;
}
