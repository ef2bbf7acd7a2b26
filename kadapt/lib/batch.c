// SPDX-License-Identifier: MIT
/*
 * Loops of writes as one call. With the device, KADAPT_BATCH; without, as many
 * pieces at a time as the kind of file allows without a difference: a stream or
 * a file on a disk does not know where one write ended, a pipe keeps up to
 * PIPE_BUF bytes together, and of anything else each write is its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "batch.h"
#include "io.h"
#include "libkadapt.h"
#include "next.h"

/* Bytes and pieces of one call: little enough not to keep the other end waiting. */
#define GROUP_BYTES (256 * 1024)
#define GROUP_PIECES 64
/*
 * Pieces from here on go alone: the other end of a stream begins later with each
 * group (bench-send, this machine's own kernel, 512 MiB: groups of pieces of 8 to
 * 64 KiB took 22 to 61 % longer than the loop).
 */
#define GROUP_PIECE_MAX 8192

static ssize_t write_bytes(const struct kadapt_pieces *pieces, const char *from, size_t size)
{
	if (pieces->is_send)
		return kadapt_next_send(pieces->descriptor, from, size, pieces->flags);
	return kadapt_next_write(pieces->descriptor, from, size);
}

static ssize_t write_vector(const struct kadapt_pieces *pieces, const char *from, uint64_t count)
{
	struct iovec vector[GROUP_PIECES];

	for (uint64_t i = 0; i < count; i++)
		vector[i] = (struct iovec){.iov_base = (char *)from + i * pieces->stride,
					   .iov_len = pieces->size};
	return kadapt_next_writev(pieces->descriptor, vector, (int)count);
}

/* `count` pieces from the one with this number on, by one call. */
static ssize_t write_group(const struct kadapt_pieces *pieces, uint64_t number, uint64_t count)
{
	const char *from = pieces->base + number * pieces->stride;

	if (count == 1 || pieces->stride == pieces->size)
		return write_bytes(pieces, from, count * pieces->size);
	return write_vector(pieces, from, count);
}

/* The most pieces that one call can take. */
static uint64_t largest_group(const struct kadapt_pieces *pieces)
{
	enum kadapt_grouping grouping;
	uint64_t limit = GROUP_BYTES;

	/* A filter may forbid writev(2), which the program never called. */
	if (kadapt_is_filtered)
		return 1;
	/* writev(2) has no flags. */
	if (pieces->stride != pieces->size && pieces->is_send && pieces->flags)
		return 1;
	if (pieces->size >= GROUP_PIECE_MAX)
		return 1;
	grouping = kadapt_grouping_of(pieces->descriptor, pieces->is_send);
	if (grouping == KADAPT_GROUP_NOTHING)
		return 1;
	if (grouping == KADAPT_GROUP_ATOMIC)
		limit = PIPE_BUF;
	limit /= pieces->size;
	if (pieces->stride != pieces->size && limit > GROUP_PIECES)
		limit = GROUP_PIECES;
	return limit ? limit : 1;
}

/* Too much at a time for a pipe that waits for nobody may be little enough alone. */
static int may_fit_alone(ssize_t written, uint64_t count)
{
	return written < 0 && count > 1 && errno == EAGAIN;
}

static uint64_t write_grouped(const struct kadapt_pieces *pieces, uint64_t done, int64_t *last)
{
	uint64_t group = pieces->count - done > 1 && pieces->size ? largest_group(pieces) : 1;

	while (done < pieces->count) {
		uint64_t left = pieces->count - done;
		uint64_t count = left < group ? left : group;
		ssize_t written = write_group(pieces, done, count);

		if (may_fit_alone(written, count)) {
			group = 1;
			continue;
		}
		*last = written;
		if (written < 0)
			break;
		done += pieces->size ? (uint64_t)written / pieces->size : 1;
		*last = pieces->size ? (int64_t)((uint64_t)written % pieces->size) : 0;
		if (*last || (!written && pieces->size))
			break;
	}
	return done;
}

/* Where each write is its own, it is made as such; the kernel knows one of send(2)'s flags. */
static int is_for_kernel(const struct kadapt_pieces *pieces)
{
	return pieces->size && pieces->count > 1 && !(pieces->flags & ~MSG_NOSIGNAL) &&
	       kadapt_device_query()->features & KADAPT_FEATURE_BATCHES &&
	       kadapt_grouping_of(pieces->descriptor, pieces->is_send) != KADAPT_GROUP_NOTHING;
}

/* More pieces done, after so many; *goes_on unless the loop has come to its end. */
static uint64_t write_some_in_kernel(const struct kadapt_pieces *pieces, uint64_t done,
				     int64_t *last, int *goes_on)
{
	struct kadapt_batch batch = {
	    .descriptor = pieces->descriptor,
	    .flags = pieces->flags & MSG_NOSIGNAL ? KADAPT_BATCH_NOSIGNAL : 0,
	    .base = (uintptr_t)pieces->base + done * pieces->stride,
	    .size = pieces->size,
	    .stride = pieces->stride,
	    .count = pieces->count - done,
	};
	int device = kadapt_device_current();

	/* What the first piece meets, the plain call meets, too. */
	*goes_on = 1;
	if (device < 0 || kadapt_device_call(device, KADAPT_BATCH, (unsigned long)&batch))
		return 0;
	*goes_on = !batch.part && !batch.error;
	*last = batch.part ? (int64_t)batch.part : -1;
	if (!batch.part && batch.error)
		errno = batch.error;
	return batch.done;
}

/* Until a call gets nowhere: a signal ends one after some pieces. */
static uint64_t write_in_kernel(const struct kadapt_pieces *pieces, int64_t *last, int *goes_on)
{
	uint64_t done = 0;
	uint64_t more;

	do {
		more = write_some_in_kernel(pieces, done, last, goes_on);
		done += more;
	} while (more && *goes_on && done < pieces->count);
	return done;
}

static int64_t write_pieces(const struct kadapt_pieces *pieces, int64_t *last)
{
	uint64_t done = 0;
	int goes_on = 1;

	if (!pieces->count)
		return 0;
	if (is_for_kernel(pieces))
		done = write_in_kernel(pieces, last, &goes_on);
	if (goes_on)
		done = write_grouped(pieces, done, last);
	return (int64_t)done;
}

int64_t kadapt_batch_write(int descriptor, const void *base, uint64_t size, uint64_t stride,
			   uint64_t count, int64_t *last)
{
	const struct kadapt_pieces pieces = {
	    .descriptor = descriptor, .base = base, .size = size, .stride = stride, .count = count};

	return write_pieces(&pieces, last);
}

int64_t kadapt_batch_send(int descriptor, const void *base, uint64_t size, uint64_t stride,
			  uint64_t count, int flags, int64_t *last)
{
	const struct kadapt_pieces pieces = {.descriptor = descriptor,
					     .is_send = 1,
					     .flags = flags,
					     .base = base,
					     .size = size,
					     .stride = stride,
					     .count = count};

	return write_pieces(&pieces, last);
}
