// SPDX-License-Identifier: MIT
/* The functions that replace write(2) and writev(2). */
#define _GNU_SOURCE
#include <limits.h>
#include <stddef.h>

#include "calls/next.h"
#include "libkadapt.h"
#include "ring/append.h"
#include "ring/burst.h"
#include "ring/record.h"

/* Count a plain call. A whole write of a record's size could have been an append. */
static ssize_t counted(int descriptor, ssize_t result, size_t size)
{
	kadapt_burst_plain(descriptor, result == (ssize_t)size && size - 1 < KADAPT_RECORD_MAX);
	return result;
}

/* Without the device nothing is tried or counted: that cost 12 ns for each call. */
static __attribute__((noinline)) ssize_t write_at_length(int descriptor, const void *bytes,
							 size_t size)
{
	if (!kadapt_has_rings)
		return kadapt_next_write(descriptor, bytes, size);
	switch (kadapt_record_at_length(descriptor, bytes, size)) {
	case KADAPT_APPENDED:
		return (ssize_t)size;
	case KADAPT_FAILED:
		return -1;
	default:
		return counted(descriptor, kadapt_next_write(descriptor, bytes, size), size);
	}
}

ssize_t kadapt_write(int descriptor, const void *bytes, size_t size)
{
	if (size - 1 < KADAPT_SHORT_MAX && kadapt_has_slot(descriptor) &&
	    kadapt_append(descriptor, bytes, size, 1))
		return (ssize_t)size;
	return write_at_length(descriptor, bytes, size);
}

/* The bytes of all pieces; 0 if they are too many for a record. */
static size_t record_size(const struct iovec *pieces, int count)
{
	size_t size = 0;

	if (count <= 0 || count > IOV_MAX)
		return 0;
	for (int i = 0; i < count; i++) {
		if (pieces[i].iov_len > KADAPT_RECORD_MAX - size)
			return 0;
		size += pieces[i].iov_len;
	}
	return size;
}

/* C++ streams write one piece, or an empty piece and another. */
static const struct iovec *only_piece(const struct iovec *pieces, int count, size_t size)
{
	for (int i = 0; i < count; i++)
		if (size && pieces[i].iov_len == size)
			return &pieces[i];
	return NULL;
}

/* Longer records of several pieces are written plainly: stacks may be small. */
#define GATHERED_MAX 1024

/* Several pieces are gathered first: the copy costs less than the call. */
static enum kadapt_outcome gathered(int descriptor, const struct iovec *pieces, int count,
				    size_t size)
{
	char record[GATHERED_MAX];
	char *end = record;

	for (int i = 0; i < count; i++) {
		__builtin_memcpy(end, pieces[i].iov_base, pieces[i].iov_len);
		end += pieces[i].iov_len;
	}
	return kadapt_record_at_length(descriptor, record, size);
}

static enum kadapt_outcome try_pieces(int descriptor, const struct iovec *pieces, int count,
				      size_t size)
{
	const struct kadapt_slot *slot = kadapt_slot_of(descriptor);
	const struct iovec *only = only_piece(pieces, count, size);

	if (only)
		return kadapt_record_at_length(descriptor, only->iov_base, size);
	if (!size || size > GATHERED_MAX || !slot || kadapt_burst_is_off(slot))
		return KADAPT_PLAIN;
	return gathered(descriptor, pieces, count, size);
}

static ssize_t written_plainly(int descriptor, const struct iovec *pieces, int count)
{
	ssize_t result = kadapt_next_writev(descriptor, pieces, count);

	if (!kadapt_has_rings || result < 0)
		return result;
	return counted(descriptor, result, record_size(pieces, count));
}

ssize_t kadapt_writev(int descriptor, const struct iovec *pieces, int count)
{
	const struct kadapt_slot *slot = kadapt_slot_of(descriptor);
	size_t size;

	/* The kernel reads the pieces first, because their array may be at a bad address. */
	if (!slot || kadapt_burst_is_off(slot))
		return written_plainly(descriptor, pieces, count);
	size = record_size(pieces, count);
	switch (try_pieces(descriptor, pieces, size ? count : 0, size)) {
	case KADAPT_APPENDED:
		return (ssize_t)size;
	case KADAPT_FAILED:
		return -1;
	default:
		return counted(descriptor, kadapt_next_writev(descriptor, pieces, count), size);
	}
}
