// SPDX-License-Identifier: MIT
#include <string.h>

#include "decide/standing.h"
#include "ranks/shared.h"
#include "trials/roles.h"

static void follow(struct kadapt_tried_phase *place)
{
	place->role = KADAPT_ROLE_FOLLOWS;
	place->trial.state = KADAPT_TRIAL_FOLLOWS;
	place->trial.in_block = 0;
	place->is_open = 0;
}

void kadapt_role_begin(struct kadapt_tried_phase *place)
{
	place->role = KADAPT_ROLE_SHARES;
	place->trial.ahead = KADAPT_AHEAD;
	place->trial.most_together = 1; /* the schedule counts single visits */
}

/*
 * A rank whose visits can't be compared may still follow. Where visits are short, they
 * are short in all ranks, and looking for a leader would cost too much of them.
 */
void kadapt_role_warmed_up(struct kadapt_tried_phase *place)
{
	if (place->trial.state == KADAPT_TRIAL_SHORT)
		place->role = KADAPT_ROLE_ALONE;
	else if (place->trial.state == KADAPT_TRIAL_GOING && kadapt_shared_lead(place->phase))
		place->role = KADAPT_ROLE_LEADS;
	else if (place->trial.state == KADAPT_TRIAL_GOING)
		follow(place);
}

int kadapt_role_is_led(struct kadapt_tried_phase *place)
{
	if (place->role == KADAPT_ROLE_SHARES && kadapt_shared_is_led(place->phase))
		follow(place);
	return place->role == KADAPT_ROLE_FOLLOWS;
}

uint32_t kadapt_role_levels(struct kadapt_tried_phase *place)
{
	place->schedule = kadapt_shared_read(place->phase);
	return place->schedule.is_decided ? kadapt_schedule_levels(&place->schedule, place->visit)
					  : place->levels;
}

static uint16_t standing_levels(const struct kadapt_tried_phase *place)
{
	uint32_t levels = KADAPT_LEVELS_PLANNED;

	for (uint8_t i = 0; i < place->trial.policies; i++)
		levels = kadapt_levels_with(levels, place->policies[i],
					    kadapt_trial_standing(&place->trial, i));
	return (uint16_t)levels;
}

static void add_block(struct kadapt_schedule *schedule, const struct kadapt_tried_phase *place)
{
	const struct kadapt_trial *trial = &place->trial;
	const struct kadapt_arm *arm = &trial->arm[trial->tried];
	uint32_t slot_visits = (uint32_t)trial->washout + trial->measured;

	schedule->has_block = 1;
	schedule->from = place->visit + trial->wait - (trial->slot * slot_visits + trial->visit);
	schedule->last = (uint8_t)(slot_visits - 1);
	schedule->policy = place->policies[arm->policy] & 3;
	schedule->level = arm->level & 3;
	schedule->is_first = trial->is_level_first & 1;
}

void kadapt_role_announce(struct kadapt_tried_phase *place)
{
	struct kadapt_schedule now = {
	    .standing = standing_levels(place),
	    .is_ended = place->trial.state >= KADAPT_TRIAL_ENDED,
	    .is_decided = 1,
	};

	if (place->trial.in_block)
		add_block(&now, place);
	if (!memcmp(&now, &place->schedule, sizeof(now)))
		return;
	place->schedule = now;
	kadapt_shared_publish(place->phase, &now);
}
