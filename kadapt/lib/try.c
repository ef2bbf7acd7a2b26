// SPDX-License-Identifier: MIT
/*
 * The way into a ring for records that did not fit at once: the ring is full, or
 * has been let go, or there is none yet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "append.h"
#include "burst.h"
#include "io.h"
#include "libkadapt.h"
#include "pool.h"
#include "settle.h"

static int ask_to_bind(struct kadapt_channel *channel, const uint64_t *offset)
{
	int device = kadapt_device_current();
	struct kadapt_binding binding = {
	    .ring = kadapt_pool_number(channel),
	    .descriptor = kadapt_descriptor_of(channel),
	    .offset = offset ? *offset : 0,
	};

	if (device < 0)
		return ENODEV;
	if (offset)
		binding.flags |= KADAPT_BIND_AT;
	if (kadapt_plan.flags & KADAPT_PLAN_STRICT)
		binding.flags |= KADAPT_BIND_STRICT;
	atomic_fetch_add_explicit(&kadapt_binds, 1, memory_order_relaxed);
	return -kadapt_device_call(device, KADAPT_BIND, (unsigned long)&binding);
}

int kadapt_bind(struct kadapt_channel *channel, const uint64_t *offset, FILE *stream)
{
	int error;

	if (kadapt_has_copy(channel) || !kadapt_pool_take(channel)) {
		kadapt_burst_refused(channel, ENOTUNIQ);
		return 0;
	}
	error = ask_to_bind(channel, offset);
	if (error) {
		kadapt_burst_refused(channel, error);
		return 0;
	}
	if (offset)
		channel->offset = *offset;
	channel->stream = stream;
	kadapt_pool_attach(channel, !offset && !stream);
	kadapt_burst_begins(channel);
	return 1;
}

int kadapt_make_room(struct kadapt_channel *channel, size_t size)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);

	if (size - 1 >= KADAPT_RECORD_MAX)
		return 0;
	if (kadapt_fits(header, size))
		return 1;
	kadapt_drain_some(channel);
	return !channel->error && kadapt_fits(header, size);
}

enum kadapt_outcome kadapt_before_plain(struct kadapt_channel *channel, int no_wait)
{
	int error = kadapt_settle(channel, no_wait);

	if (!error && channel->error)
		error = kadapt_take_error(channel);
	if (!error)
		return KADAPT_PLAIN;
	errno = -error;
	return KADAPT_FAILED;
}

int kadapt_before_write(int descriptor, int no_wait)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);

	if (!channel)
		return 0;
	channel->streak = 0;
	return kadapt_before_plain(channel, no_wait) == KADAPT_FAILED ? -1 : 0;
}

void kadapt_end_if_let_go(struct kadapt_channel *channel)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);

	if (!header || kadapt_limit(header) || !kadapt_holds_nothing(header))
		return;
	kadapt_burst_ended(channel);
	kadapt_pool_unbound(channel);
	channel->header = NULL;
	channel->other = NULL;
	channel->stream = NULL;
}

static int is_bound_for(const struct kadapt_channel *channel, unsigned int flags)
{
	if (channel->stream)
		return 0;
	return (flags & KADAPT_TRY_AT ? channel->other : channel->header) != NULL;
}

static int may_bind(const struct kadapt_channel *channel, const struct kadapt_record *record)
{
	return !kadapt_header_of(channel) && kadapt_burst_is_on(channel) && !channel->error &&
	       record->size - 1 < KADAPT_RECORD_MAX;
}

static void copy_pieces(char *place, const struct kadapt_record *record)
{
	for (int i = 0; i < record->piece_count; i++) {
		__builtin_memcpy(place, record->pieces[i].iov_base, record->pieces[i].iov_len);
		place += record->pieces[i].iov_len;
	}
}

int kadapt_put(struct kadapt_channel *channel, const struct kadapt_record *record)
{
	struct kadapt_ring_header *header = kadapt_header_of(channel);

	if (record->pieces)
		copy_pieces(kadapt_place(channel, header), record);
	else
		kadapt_copy(kadapt_place(channel, header), record->bytes, record->size);
	return kadapt_publish(channel, header, record->size);
}

/* What send(2) refuses is not for a ring that write(2) may use. */
static int is_wrong_kind(const struct kadapt_channel *channel, unsigned int flags)
{
	return flags & KADAPT_TRY_SOCKET &&
	       kadapt_kind_of(kadapt_descriptor_of(channel)) != KADAPT_KIND_SOCKET;
}

/* pwrite(2) goes on where it was, or the ring is of no use any more. */
static int follows(struct kadapt_channel *channel, const struct kadapt_record *record,
		   unsigned int flags)
{
	if (!(flags & KADAPT_TRY_AT) || channel->offset == record->offset)
		return 1;
	kadapt_release(channel);
	return 0;
}

static int went_in(struct kadapt_channel *channel, const struct kadapt_record *record,
		   unsigned int flags)
{
	kadapt_end_if_let_go(channel);
	if (!is_bound_for(channel, flags) && !may_bind(channel, record))
		return 0;
	if (is_wrong_kind(channel, flags) || !follows(channel, record, flags))
		return 0;
	if (!kadapt_header_of(channel) &&
	    !kadapt_bind(channel, flags & KADAPT_TRY_AT ? &record->offset : NULL, NULL))
		return 0;
	if (!kadapt_make_room(channel, record->size) || !kadapt_put(channel, record))
		return 0;
	channel->offset += record->size;
	return 1;
}

/*
 * The thread may be cancelled here, where the ring is full: at the latest after
 * as many records as a ring holds.
 */
enum kadapt_outcome kadapt_try(int descriptor, const struct kadapt_record *record,
			       unsigned int flags)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);
	int appended;

	if (!channel || kadapt_burst_is_off(channel))
		return KADAPT_PLAIN;
	if (!__libc_single_threaded)
		pthread_testcancel();
	if (!kadapt_channel_enter(channel))
		return kadapt_before_plain(channel, flags & KADAPT_TRY_NO_WAIT);
	appended = kadapt_has_rings && went_in(channel, record, flags);
	/* Nobody is inside while waiting: a handler may leave the wait by longjmp(). */
	kadapt_channel_leave(channel);
	return appended ? KADAPT_APPENDED
			: kadapt_before_plain(channel, flags & KADAPT_TRY_NO_WAIT);
}
