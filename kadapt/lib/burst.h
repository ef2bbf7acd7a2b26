/* SPDX-License-Identifier: MIT */
/*
 * When a ring pays. It costs two calls, to bind and to drain, and saves one for
 * each record but the first. So it is for bursts: records that follow one
 * another with no other call on the descriptor in between. There is no clock:
 * whether a burst is one shows in how many records came before somebody had to
 * wait for them.
 */
#ifndef LIBKADAPT_BURST_H
#define LIBKADAPT_BURST_H

#include "channel.h"

#define KADAPT_PATIENCE_MAX (1U << 20)
#define KADAPT_PATIENCE_REFUSED 16

/* Each time nothing was gained, twice as many records before the next attempt. */
static inline uint32_t kadapt_more_patience(uint32_t patience, uint32_t at_least)
{
	patience = patience * 2 + 1;
	if (patience < at_least)
		patience = at_least;
	return patience < KADAPT_PATIENCE_MAX ? patience : KADAPT_PATIENCE_MAX;
}

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
 * Nothing bound, nothing kept, no burst: the call is made as it is. A program that
 * asks and waits for the answer comes no further than this.
 */
static inline int kadapt_burst_is_off(const struct kadapt_channel *channel)
{
	if (kadapt_header_of(channel) || channel->error)
		return 0;
	return !kadapt_has_rings || !kadapt_burst_is_on(channel);
}

/* The ring has been bound. */
KADAPT_HIDDEN void kadapt_burst_begins(struct kadapt_channel *channel);

/* The ring was drained because somebody waits; 1: too early too often. */
KADAPT_HIDDEN int kadapt_burst_was_poor(struct kadapt_channel *channel);

/* The kernel let go because nothing came. */
KADAPT_HIDDEN void kadapt_burst_ended(struct kadapt_channel *channel);

/* The kernel refused to bind, with this error. */
KADAPT_HIDDEN void kadapt_burst_refused(struct kadapt_channel *channel, int error);

#endif
