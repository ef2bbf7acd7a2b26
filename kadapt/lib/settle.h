/* SPDX-License-Identifier: MIT */
/*
 * To settle is to have what a ring holds written out now, and the kernel told of
 * a position, because somebody is about to look, to wait for the answer, or to do
 * something to the descriptor.
 */
#ifndef LIBKADAPT_SETTLE_H
#define LIBKADAPT_SETTLE_H

#include "channel.h"
#include "reading.h"

/*
 * 0, or something is left, for want of room at the other end of a stream:
 * -EAGAIN, where O_NONBLOCK or `no_wait` says not to wait, or -EINTR. Errors are
 * kept in the channel.
 */
KADAPT_HIDDEN int kadapt_settle(struct kadapt_channel *channel, int no_wait);

/* To the end, and the ring is let go: what follows may not find it bound. */
KADAPT_HIDDEN void kadapt_release(struct kadapt_channel *channel);

/*
 * Every ring of the process, waiting for nobody: the plain program would not
 * wait here, either.
 */
KADAPT_HIDDEN void kadapt_settle_every(void);
KADAPT_HIDDEN void kadapt_release_every(void);

/* Make room, as far as that goes without waiting. From inside the channel. */
KADAPT_HIDDEN void kadapt_drain_some(struct kadapt_channel *channel);

/*
 * The kept error, once, as -errno; or 0. A broken pipe is none of them: the
 * next plain call meets it itself, with its signal.
 */
KADAPT_HIDDEN int kadapt_take_error(struct kadapt_channel *channel);

/* For interposed functions: nothing to do costs a load and a branch. */
static inline void kadapt_settle_all(void)
{
	if (__builtin_expect(kadapt_bound != 0, 0))
		kadapt_settle_every();
}

static inline void kadapt_look_away_all(void)
{
	if (__builtin_expect(kadapt_looked != 0, 0))
		kadapt_look_away_everywhere();
}

static inline void kadapt_release_all(void)
{
	if (__builtin_expect(kadapt_bound != 0, 0))
		kadapt_release_every();
	kadapt_look_away_all();
}

/* The same for one descriptor; its streaks of plain calls are over. */
static inline void kadapt_settle_one(int descriptor)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);

	if (!channel)
		return;
	channel->streak = 0;
	kadapt_readings[descriptor].streak = 0;
	if (__builtin_expect(kadapt_header_of(channel) != NULL, 0))
		kadapt_settle(channel, 1);
	if (__builtin_expect(kadapt_readings[descriptor].position != 0, 0))
		kadapt_locate(descriptor);
}

/* Has kadapt_settle_one() nothing to do, nor kadapt_settle_all()? Streaks are over all the same. */
static inline int kadapt_is_settled(int descriptor)
{
	if (__builtin_expect(!kadapt_has_channel(descriptor), 0))
		return 0;
	kadapt_channels[descriptor].streak = 0;
	kadapt_readings[descriptor].streak = 0;
	return __builtin_expect(!kadapt_bound && !kadapt_readings[descriptor].position, 1);
}

static inline void kadapt_release_one(int descriptor)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);

	if (!channel)
		return;
	channel->streak = 0;
	kadapt_readings[descriptor].streak = 0;
	if (__builtin_expect(kadapt_header_of(channel) != NULL, 0))
		kadapt_release(channel);
	if (__builtin_expect(kadapt_readings[descriptor].window != 0, 0))
		kadapt_look_away(descriptor);
}

#endif
