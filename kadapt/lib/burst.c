// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "burst.h"

/* Records that a ring must have taken to have been worth it. */
#define PAYING 4

static void be_more_patient(struct kadapt_channel *channel)
{
	uint32_t patience = channel->patience * 2 + 1;

	channel->patience = patience < KADAPT_PATIENCE_MAX ? patience : KADAPT_PATIENCE_MAX;
	channel->streak = 0;
}

static uint64_t appended(const struct kadapt_channel *channel)
{
	const struct kadapt_ring_header *header = kadapt_header_of(channel);

	return header ? header->appends : 0;
}

void kadapt_burst_begins(struct kadapt_channel *channel)
{
	channel->begun = appended(channel);
	channel->is_bound = 1;
}

void kadapt_burst_ended(struct kadapt_channel *channel)
{
	uint64_t now = appended(channel);

	channel->is_bound = 0;
	channel->streak = 0;
	if (now >= channel->begun + PAYING)
		channel->patience = 0;
	else
		be_more_patient(channel);
}

void kadapt_burst_refused(struct kadapt_channel *channel)
{
	be_more_patient(channel);
}
