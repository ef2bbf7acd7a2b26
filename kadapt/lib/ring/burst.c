// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "ring/burst.h"

/* A ring that took this many records has paid. */
#define PAYING 4

static void be_more_patient(struct kadapt_slot *slot)
{
	uint32_t patience = slot->patience * 2 + 1;

	slot->patience = patience < KADAPT_PATIENCE_MAX ? patience : KADAPT_PATIENCE_MAX;
	slot->streak = 0;
}

static uint64_t appended(const struct kadapt_slot *slot)
{
	const struct kadapt_ring_header *header = kadapt_header_of(slot);

	return header ? header->appends : 0;
}

void kadapt_burst_begins(struct kadapt_slot *slot)
{
	slot->begun = appended(slot);
	slot->is_bound = 1;
}

void kadapt_burst_ended(struct kadapt_slot *slot)
{
	uint64_t now = appended(slot);

	slot->is_bound = 0;
	slot->streak = 0;
	if (now >= slot->begun + PAYING)
		slot->patience = 0;
	else
		be_more_patient(slot);
}

void kadapt_burst_refused(struct kadapt_slot *slot)
{
	be_more_patient(slot);
}
