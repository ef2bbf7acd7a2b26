// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "append.h"
#include "channel.h"
#include "reading.h"

struct kadapt_channel kadapt_channels[KADAPT_CHANNELS];

static int took(struct kadapt_channel *channel, uintptr_t self)
{
	uintptr_t nobody = 0;

	return __atomic_compare_exchange_n(&channel->owner, &nobody, self, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

int kadapt_channel_try(struct kadapt_channel *channel)
{
	return took(channel, (uintptr_t)__builtin_thread_pointer());
}

/*
 * Nobody stays inside for longer than a copy or a drain, so waiting is yielding;
 * but a real-time thread yields to none of lower priority, so it sleeps in the end.
 */
static void wait_a_little(int attempts)
{
	const struct timespec moment = {.tv_nsec = 50000};

	if (attempts < 100)
		syscall(SYS_sched_yield);
	else
		syscall(SYS_nanosleep, &moment, NULL);
}

int kadapt_channel_enter_shared(struct kadapt_channel *channel)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	int saved_errno = errno;

	for (int attempts = 0; !took(channel, self); attempts++) {
		if (__atomic_load_n(&channel->owner, __ATOMIC_RELAXED) == self)
			return 0;
		wait_a_little(attempts);
		errno = saved_errno;
	}
	return 1;
}

/* The ring stays with the channel, for whatever the number will refer to. */
static void lay_aside_ring(struct kadapt_channel *channel)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);

	if (!header || !kadapt_channel_enter(channel))
		return;
	if (!kadapt_limit(header) && kadapt_holds_nothing(header)) {
		channel->header = NULL;
		channel->other = NULL;
	}
	kadapt_channel_leave(channel);
}

/* What is counted for the report goes on. */
void kadapt_channel_forget(struct kadapt_channel *channel)
{
	lay_aside_ring(channel);
	kadapt_reading_forget(kadapt_descriptor_of(channel));
	channel->stream = NULL;
	channel->stream_bytes = 0;
	channel->streak = 0;
	channel->patience = 0;
	channel->poor = 0;
	channel->error = 0;
	channel->kind = 0;
	channel->is_copied = 0;
	channel->stream_moved = 0;
	channel->stream_failed = 0;
}
