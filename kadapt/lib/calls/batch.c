// SPDX-License-Identifier: MIT
/*
 * Batches: a loop of writes as few calls. With the device it is KADAPT_BATCH. Without
 * it, one call takes as many pieces as no reader can tell from single writes. That is
 * any number for TCP or a file on a disk, PIPE_BUF bytes for a pipe, and one piece for
 * anything else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "calls/batch.h"
#include "calls/next.h"
#include "libkadapt.h"
#include "ring/begin.h"
#include "base/levels.h"

/* Most bytes and pieces of one call, so that the other end does not wait long. */
#define GROUP_BYTES (256 * 1024)
#define GROUP_PIECES 64
/*
 * Pieces of this size and more go alone, because the other end of a stream starts
 * later with each group. Groups of pieces of 8 to 64 KiB took 22 to 61 % longer than
 * the loop (bench-send, own kernel, 512 MiB).
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

/* Write `count` pieces from this number on by one call. */
static ssize_t write_group(const struct kadapt_pieces *pieces, uint64_t number, uint64_t count)
{
	const char *from = pieces->base + number * pieces->stride;

	if (count == 1 || pieces->stride == pieces->size)
		return write_bytes(pieces, from, count * pieces->size);
	return write_vector(pieces, from, count);
}

/* The most pieces for one call. */
static uint64_t largest_group(const struct kadapt_pieces *pieces)
{
	enum kadapt_grouping grouping;
	uint64_t limit = GROUP_BYTES;

	/* A seccomp filter may forbid writev(2), which the program does not call. */
	if (kadapt_is_filtered || kadapt_is_plain(KADAPT_TRIED_BATCHES))
		return 1;
	/* writev(2) has no flags. */
	if (pieces->stride != pieces->size && pieces->is_send && pieces->flags)
		return 1;
	if (pieces->size >= GROUP_PIECE_MAX)
		return 1;
	grouping = kadapt_grouping_of(pieces->descriptor, pieces->is_send);
	if (grouping == KADAPT_GROUP_NOTHING || grouping == KADAPT_GROUP_SINGLE)
		return 1;
	if (grouping == KADAPT_GROUP_ATOMIC)
		limit = PIPE_BUF;
	limit /= pieces->size;
	if (pieces->stride != pieces->size && limit > GROUP_PIECES)
		limit = GROUP_PIECES;
	return limit ? limit : 1;
}

/*
 * A non-blocking pipe that has no room for a group may have room for a piece. And pieces
 * before the end of the program's memory can be written.
 */
static int may_fit_alone(ssize_t written, uint64_t count)
{
	return written < 0 && count > 1 && (errno == EAGAIN || errno == EFAULT);
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

/* Whether KADAPT_BATCH can write the pieces; it knows one flag of send(2). */
static int is_for_kernel(const struct kadapt_pieces *pieces)
{
	return pieces->size && pieces->count > 1 && !kadapt_is_plain(KADAPT_TRIED_BATCHES) &&
	       !(pieces->flags & ~MSG_NOSIGNAL) &&
	       kadapt_device_query()->features & KADAPT_FEATURE_BATCHES &&
	       kadapt_grouping_of(pieces->descriptor, pieces->is_send) != KADAPT_GROUP_NOTHING;
}

/* Returns the pieces written after `done`. *goes_on is 0 at the loop's end. */
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

	/* If the first piece fails, the plain call meets the same error. */
	*goes_on = 1;
	if (device < 0 || kadapt_device_call(device, KADAPT_BATCH, (unsigned long)&batch))
		return 0;
	*goes_on = !batch.part && !batch.error;
	*last = batch.part ? (int64_t)batch.part : -1;
	if (!batch.part && batch.error)
		errno = batch.error;
	return batch.done;
}

/* A signal ends a call after some pieces, so repeat until a call writes none. */
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
	atomic_fetch_add_explicit(&kadapt_batches_written, 1, memory_order_relaxed);
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
