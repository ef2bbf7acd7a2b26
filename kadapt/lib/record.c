// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/single_threaded.h>

#include "append.h"
#include "burst.h"
#include "pool.h"
#include "record.h"

/* The error that the kernel kept, once. */
static enum kadapt_outcome failed(const struct kadapt_ring_header *header)
{
	int error = header && header->error ? -kadapt_pool_drain(header) : 0;

	if (!error || error == ENOLINK)
		return KADAPT_PLAIN;
	errno = error;
	return KADAPT_FAILED;
}

static enum kadapt_outcome append_again(int descriptor, const void *record, size_t size)
{
	return kadapt_append(descriptor, record, size, 0) ? KADAPT_APPENDED : KADAPT_PLAIN;
}

/* Another thread's ring is let go by the plain call. */
static enum kadapt_outcome make_room(int descriptor, const struct kadapt_ring_header *header,
				     const void *record, size_t size)
{
	if (header->writer != kadapt_writer(descriptor))
		return KADAPT_PLAIN;
	kadapt_pool_drain(header);
	return append_again(descriptor, record, size);
}

static enum kadapt_outcome bind_and_append(struct kadapt_channel *channel, const void *record,
					   size_t size)
{
	if (!kadapt_burst_is_on(channel))
		return KADAPT_PLAIN;
	if (!kadapt_pool_bind(channel)) {
		kadapt_burst_refused(channel);
		return KADAPT_PLAIN;
	}
	kadapt_burst_begins(channel);
	return append_again(kadapt_descriptor_of(channel), record, size);
}

/*
 * The thread may be cancelled here, where the ring is full: at the latest after as
 * many records as a ring holds.
 */
enum kadapt_outcome kadapt_record(int descriptor, const void *record, size_t size)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);
	enum kadapt_outcome outcome = KADAPT_PLAIN;
	const struct kadapt_ring_header *header;

	if (!channel || kadapt_burst_is_off(channel) || size - 1 >= KADAPT_RECORD_MAX)
		return KADAPT_PLAIN;
	if (!__libc_single_threaded)
		pthread_testcancel();
	header = kadapt_header_of(channel);
	if (header && kadapt_is_open(header))
		return make_room(descriptor, header, record, size);
	if (channel->is_bound) {
		kadapt_burst_ended(channel);
		outcome = failed(header);
	}
	return outcome ? outcome : bind_and_append(channel, record, size);
}

enum kadapt_outcome kadapt_record_at_length(int descriptor, const void *record, size_t size)
{
	if (size - 1 < KADAPT_RECORD_MAX && kadapt_has_channel(descriptor) &&
	    kadapt_append(descriptor, record, size, 0))
		return KADAPT_APPENDED;
	return kadapt_record(descriptor, record, size);
}
