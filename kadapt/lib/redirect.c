// SPDX-License-Identifier: MIT
/* In the place of write(2), send(2) and their like. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "append.h"
#include "burst.h"
#include "io.h"
#include "libkadapt.h"
#include "next.h"
#include "settle.h"

/* What a record of this size returns, unless the plain call must be made. */
#define RETURN_UNLESS_PLAIN(outcome, size)                                                         \
	do {                                                                                       \
		enum kadapt_outcome became = (outcome);                                            \
                                                                                                   \
		if (became == KADAPT_APPENDED)                                                     \
			return (ssize_t)(size);                                                    \
		if (became == KADAPT_FAILED)                                                       \
			return -1;                                                                 \
	} while (0)

/* Whether the plain call took a record whole that a ring could have taken. */
static ssize_t counted(int descriptor, ssize_t result, size_t size)
{
	kadapt_burst_plain(descriptor, result == (ssize_t)size && size - 1 < KADAPT_RECORD_MAX);
	return result;
}

/* A number without a channel counts as off. */
static inline int is_off(int descriptor)
{
	return !kadapt_has_channel(descriptor) ||
	       kadapt_burst_is_off(&kadapt_channels[(unsigned int)descriptor]);
}

static __attribute__((noinline)) ssize_t write_plainly(int descriptor, const void *bytes,
						       size_t size)
{
	return counted(descriptor, kadapt_next_write(descriptor, bytes, size), size);
}

static __attribute__((noinline)) ssize_t write_slowly(int descriptor, const void *bytes,
						      size_t size)
{
	const struct kadapt_record record = {.bytes = bytes, .size = size};

	RETURN_UNLESS_PLAIN(kadapt_try(descriptor, &record, 0), size);
	return write_plainly(descriptor, bytes, size);
}

/* Longer records, other threads about. */
static __attribute__((noinline)) ssize_t write_at_once(int descriptor, const void *bytes,
						       size_t size)
{
	if (kadapt_append_at_once(descriptor, bytes, size))
		return (ssize_t)size;
	return write_slowly(descriptor, bytes, size);
}

/* Whatever is not for the short way. */
static __attribute__((noinline)) ssize_t write_at_length(int descriptor, const void *bytes,
							 size_t size)
{
	return is_off(descriptor) ? write_plainly(descriptor, bytes, size)
				  : write_at_once(descriptor, bytes, size);
}

/* From inside the channel. */
static __attribute__((noinline)) int recover(struct kadapt_channel *channel, size_t size)
{
	int appended = kadapt_append_recover(channel, channel->header, size);

	kadapt_channel_leave(channel);
	return appended;
}

static __attribute__((noinline)) ssize_t write_again(int descriptor, const void *bytes, size_t size)
{
	if (recover(&kadapt_channels[descriptor], size))
		return (ssize_t)size;
	return write_slowly(descriptor, bytes, size);
}

ssize_t kadapt_write(int descriptor, const void *bytes, size_t size)
{
	if (!kadapt_is_short(descriptor, size))
		return write_at_length(descriptor, bytes, size);
	switch (kadapt_append_short(&kadapt_channels[descriptor], bytes, size)) {
	case KADAPT_SHORT_DONE:
		return (ssize_t)size;
	case KADAPT_SHORT_RECOVER:
		return write_again(descriptor, bytes, size);
	default:
		return write_at_length(descriptor, bytes, size);
	}
}

static void expect_offset(int descriptor, off_t offset)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);

	if (!channel || kadapt_header_of(channel))
		return;
	if (channel->offset != (uint64_t)offset)
		channel->streak = 0;
}

static void next_offset(int descriptor, off_t offset)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);

	if (channel && !kadapt_header_of(channel))
		channel->offset = (uint64_t)offset;
}

ssize_t kadapt_pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
	const struct kadapt_record record = {
	    .bytes = bytes, .size = size, .offset = (uint64_t)offset};
	ssize_t result;

	expect_offset(descriptor, offset);
	RETURN_UNLESS_PLAIN(kadapt_try(descriptor, &record, KADAPT_TRY_AT), size);
	result = kadapt_next_pwrite(descriptor, bytes, size, offset);
	if (result > 0)
		next_offset(descriptor, offset + result);
	return counted(descriptor, result, size);
}

ssize_t kadapt_pwrite64(int descriptor, const void *bytes, size_t size, off_t offset)
    __attribute__((alias("kadapt_pwrite")));

/* Bytes of all pieces; 0 if that is none of a record's sizes. */
static size_t record_size(const struct iovec *pieces, int count)
{
	size_t size = 0;

	if (count <= 0 || count > IOV_MAX)
		return 0;
	for (int i = 0; i < count; i++) {
		if (pieces[i].iov_len > KADAPT_RECORD_MAX)
			return 0;
		size += pieces[i].iov_len;
	}
	return size;
}

ssize_t kadapt_writev(int descriptor, const struct iovec *pieces, int count)
{
	const struct kadapt_record record = {
	    .pieces = pieces, .piece_count = count, .size = record_size(pieces, count)};

	RETURN_UNLESS_PLAIN(kadapt_try(descriptor, &record, 0), record.size);
	return counted(descriptor, kadapt_next_writev(descriptor, pieces, count), record.size);
}

/* Flags under which a record in the ring is what the call would have done. */
#define RING_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT)

static __attribute__((noinline)) ssize_t send_plainly(int descriptor, const void *bytes,
						      size_t size, int flags)
{
	return counted(descriptor, kadapt_next_send(descriptor, bytes, size, flags), size);
}

static __attribute__((noinline)) ssize_t send_slowly(int descriptor, const void *bytes, size_t size,
						     int flags)
{
	const struct kadapt_record record = {.bytes = bytes, .size = size};
	const unsigned int how =
	    KADAPT_TRY_SOCKET | (flags & MSG_DONTWAIT ? KADAPT_TRY_NO_WAIT : 0);

	RETURN_UNLESS_PLAIN(kadapt_try(descriptor, &record, how), size);
	return send_plainly(descriptor, bytes, size, flags);
}

/* No ring does what these flags ask for. */
static __attribute__((noinline)) ssize_t send_otherwise(int descriptor, const void *bytes,
							size_t size, int flags)
{
	if (kadapt_before_write(descriptor, flags & MSG_DONTWAIT))
		return -1;
	return kadapt_next_send(descriptor, bytes, size, flags);
}

/* A ring that is bound to a file is not for send(2), which fails on files. */
static inline int is_for_send(int descriptor)
{
	return kadapt_has_channel(descriptor) &&
	       kadapt_channels[(unsigned int)descriptor].kind == KADAPT_KIND_SOCKET;
}

static __attribute__((noinline)) ssize_t send_at_once(int descriptor, const void *bytes,
						      size_t size, int flags)
{
	if (is_for_send(descriptor) && kadapt_append_at_once(descriptor, bytes, size))
		return (ssize_t)size;
	return send_slowly(descriptor, bytes, size, flags);
}

static __attribute__((noinline)) ssize_t send_at_length(int descriptor, const void *bytes,
							size_t size, int flags)
{
	if (flags & ~RING_FLAGS)
		return send_otherwise(descriptor, bytes, size, flags);
	return is_off(descriptor) ? send_plainly(descriptor, bytes, size, flags)
				  : send_at_once(descriptor, bytes, size, flags);
}

static __attribute__((noinline)) ssize_t send_again(int descriptor, const void *bytes, size_t size,
						    int flags)
{
	if (recover(&kadapt_channels[descriptor], size))
		return (ssize_t)size;
	return send_slowly(descriptor, bytes, size, flags);
}

ssize_t kadapt_send(int descriptor, const void *bytes, size_t size, int flags)
{
	if (!kadapt_is_short(descriptor, size) || flags & ~RING_FLAGS || !is_for_send(descriptor))
		return send_at_length(descriptor, bytes, size, flags);
	switch (kadapt_append_short(&kadapt_channels[descriptor], bytes, size)) {
	case KADAPT_SHORT_DONE:
		return (ssize_t)size;
	case KADAPT_SHORT_RECOVER:
		return send_again(descriptor, bytes, size, flags);
	default:
		return send_at_length(descriptor, bytes, size, flags);
	}
}

ssize_t kadapt_sendto(int descriptor, const void *bytes, size_t size, int flags,
		      const struct sockaddr *address, socklen_t address_size)
{
	if (!address)
		return kadapt_send(descriptor, bytes, size, flags);
	if (kadapt_before_write(descriptor, flags & MSG_DONTWAIT))
		return -1;
	return kadapt_next_sendto(descriptor, bytes, size, flags, address, address_size);
}
