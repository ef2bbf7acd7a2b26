// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stddef.h>

#include "burst.h"

/* Calls that a ring must have saved when it is drained, to have been worth it. */
#define PAYING 4
/* Drains in a row that were not. */
#define POOR_LIMIT 2

/* Calls saved ever: each record's own, or one for each time its stream's buffer was full. */
static uint64_t saved(const struct kadapt_channel *channel)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);

	if (channel->stream && header)
		return header->tail / channel->stream_buffer;
	return channel->appends;
}

static uint64_t saved_since(struct kadapt_channel *channel)
{
	uint64_t now = saved(channel);
	uint64_t since = now - channel->judged;

	channel->judged = now;
	return since;
}

void kadapt_burst_begins(struct kadapt_channel *channel)
{
	channel->begun = saved(channel);
	channel->judged = channel->begun;
}

static void be_more_patient(struct kadapt_channel *channel, uint32_t at_least)
{
	channel->patience = kadapt_more_patience(channel->patience, at_least);
	channel->streak = 0;
}

int kadapt_burst_was_poor(struct kadapt_channel *channel)
{
	if (saved_since(channel) >= PAYING) {
		channel->poor = 0;
		channel->patience = 0;
		return 0;
	}
	if (++channel->poor < POOR_LIMIT)
		return 0;
	be_more_patient(channel, 2);
	return 1;
}

void kadapt_burst_ended(struct kadapt_channel *channel)
{
	channel->streak = 0;
	if (saved(channel) - channel->begun >= PAYING)
		channel->patience = 0;
	else
		be_more_patient(channel, 1);
}

/* What the descriptor is does not change; who else has its file may. */
void kadapt_burst_refused(struct kadapt_channel *channel, int error)
{
	switch (error) {
	case ENOLCK:
	case ENOTUNIQ:
	case ENOTCONN:
	case EPERM: /* after vfork(): the child's calls are not the parent's */
		be_more_patient(channel, KADAPT_PATIENCE_REFUSED);
		break;
	default:
		be_more_patient(channel, KADAPT_PATIENCE_MAX);
	}
}
