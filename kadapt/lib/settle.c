// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "append.h"
#include "burst.h"
#include "pool.h"
#include "settle.h"

_Atomic uint64_t kadapt_drains;

/*
 * KADAPT_DRAIN or KADAPT_UNBIND: 0 or -errno. Never with SIGPIPE: what meets a
 * broken pipe here is met again by the plain call that follows, and one signal
 * is what a program expects.
 */
static int ask_kernel(struct kadapt_channel *channel, unsigned long request, unsigned long flags)
{
	int device = atomic_load_explicit(&kadapt_device, memory_order_relaxed);
	unsigned long argument = kadapt_pool_number(channel) | KADAPT_DRAIN_NOSIGNAL | flags;

	if (device < 0)
		return 0;
	atomic_fetch_add_explicit(&kadapt_drains, 1, memory_order_relaxed);
	return kadapt_device_call(device, request, argument);
}

/* Errors of the ring or the device are none of the descriptor's. */
static void keep_error(struct kadapt_channel *channel, int error)
{
	if (error == -ENOLINK || error == -ENOENT || error == -EBADF || error == -EPERM ||
	    error == -ENOTTY || error == -EINVAL)
		return;
	channel->error = -error;
	if (channel->stream)
		channel->stream_failed = 1;
}

static int drain(struct kadapt_channel *channel, unsigned long request, unsigned long flags)
{
	int error = ask_kernel(channel, request, flags);

	if (error == -EAGAIN || error == -EINTR)
		return error;
	if (error)
		keep_error(channel, error);
	return 0;
}

int kadapt_settle(struct kadapt_channel *channel, int no_wait)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);
	int result;

	if (!header)
		return 0;
	if (kadapt_holds_nothing(header)) {
		if (!kadapt_limit(header))
			kadapt_pool_unbound(channel);
		return 0;
	}
	result = drain(channel, KADAPT_DRAIN, no_wait ? 0 : KADAPT_DRAIN_WAIT);
	if (kadapt_burst_was_poor(channel))
		drain(channel, KADAPT_UNBIND, 0);
	return result;
}

void kadapt_release(struct kadapt_channel *channel)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);

	if (!header || (kadapt_holds_nothing(header) && !kadapt_limit(header)))
		return;
	while (!kadapt_holds_nothing(header) &&
	       drain(channel, KADAPT_DRAIN, KADAPT_DRAIN_WAIT) == -EINTR)
		;
	drain(channel, KADAPT_UNBIND, 0);
	kadapt_pool_unbound(channel);
}

static void for_every_bound(void (*function)(struct kadapt_channel *))
{
	uint64_t bits = atomic_load_explicit(&kadapt_bound, memory_order_relaxed);

	for (; bits; bits &= bits - 1) {
		struct kadapt_channel *channel =
		    kadapt_pool_channel((unsigned int)__builtin_ctzll(bits));

		if (channel)
			function(channel);
	}
}

static void settle_at_once(struct kadapt_channel *channel)
{
	kadapt_settle(channel, 1);
}

void kadapt_settle_every(void)
{
	for_every_bound(settle_at_once);
}

void kadapt_release_every(void)
{
	for_every_bound(kadapt_release);
}

void kadapt_drain_some(struct kadapt_channel *channel)
{
	drain(channel, KADAPT_DRAIN, 0);
}

int kadapt_take_error(struct kadapt_channel *channel)
{
	int error = channel->error;

	channel->error = 0;
	return error == EPIPE ? 0 : -error;
}

/*
 * Bound no more, and nobody will look at the tail before the next binding: what
 * the kernel took is taken, what it did not is taken back.
 */
int kadapt_append_recover(struct kadapt_channel *channel, struct kadapt_ring_header *header,
			  size_t size)
{
	int error = ask_kernel(channel, KADAPT_DRAIN, 0);

	if (error != -ENOLINK && kadapt_holds_nothing(header)) {
		if (error)
			keep_error(channel, error);
		channel->appends++;
		return 1;
	}
	if (error == -ENOLINK)
		__atomic_store_n(&header->tail, header->tail - size, __ATOMIC_RELEASE);
	return error != -ENOLINK;
}
