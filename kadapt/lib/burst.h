/* SPDX-License-Identifier: MIT */
/*
 * When a ring pays. It costs two calls, to bind and to let go, and saves one for
 * each record but the first. So it is for bursts: records that follow one another
 * with nothing done to the file in between. There is no clock: whether a burst was
 * one shows in how many records came before the kernel let the file go.
 */
#ifndef LIBKADAPT_BURST_H
#define LIBKADAPT_BURST_H

#include "channel.h"

/*
 * Each time nothing was gained, twice as many records come before the next attempt,
 * up to here. The number may mean another file by then, so it is not for ever.
 */
#define KADAPT_PATIENCE_MAX 1023

/* A redirected call was made as it is; was it one that a ring could have taken? */
static inline void kadapt_burst_plain(int descriptor, int was_record)
{
	struct kadapt_channel *channel = kadapt_channel_of(descriptor);

	if (!channel)
		return;
	channel->plain++;
	channel->streak = was_record ? channel->streak + 1 : 0;
}

/* Has the streak become long enough? */
static inline int kadapt_burst_is_on(const struct kadapt_channel *channel)
{
	return channel->streak > channel->patience;
}

/*
 * Nothing bound and no burst: the call is made as it is. A program that asks and
 * waits for the answer comes no further than this.
 */
static inline int kadapt_burst_is_off(const struct kadapt_channel *channel)
{
	return !kadapt_has_rings || (!channel->is_bound && !kadapt_burst_is_on(channel));
}

/* The ring has been bound. */
KADAPT_HIDDEN void kadapt_burst_begins(struct kadapt_channel *channel);

/* The kernel let the file go. */
KADAPT_HIDDEN void kadapt_burst_ended(struct kadapt_channel *channel);

/* The kernel refused to bind. */
KADAPT_HIDDEN void kadapt_burst_refused(struct kadapt_channel *channel);

#endif
