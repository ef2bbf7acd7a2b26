// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "decide/cost.h"
#include "decide/numbers.h"
#include "decide/standing.h"
#include "decide/trial.h"
#include "decide/warm_up.h"

/* An arm that looks worse than this of a visit is dropped as a precaution. */
#define HARM 0.05
/* Blocks after which a policy that did nothing is idle. */
#define IDLE_BLOCKS 3
/* Blocks that may begin anew, of all. */
#define MOST_DISTURBANCES 16
/* Parts of the budget for arms that are decided, here or in earlier runs. */
#define PART_CLAIMED 0.5
#define PART_LEARNED 0.25
/* An effect within this, by its interval, is not worth more blocks. */
#define NEGLIGIBLE 0.003

static struct kadapt_arm *tried_arm(struct kadapt_trial *trial)
{
	return &trial->arm[trial->tried];
}

static unsigned int slot_visits(const struct kadapt_trial *trial)
{
	return trial->washout + trial->measured;
}

void kadapt_trial_begin(struct kadapt_trial *trial)
{
	trial->measured = 1;
	trial->in_block = 0;
	trial->disturbances = 0;
	kadapt_trial_begin_warm_up(trial, 1);
	for (unsigned int i = 0; i < trial->arms; i++) {
		trial->arm[i].state = KADAPT_ARM_OPEN;
		trial->arm[i].visits = 0;
		trial->arm[i].lost[0] = trial->arm[i].lost[1] = 0;
		trial->arm[i].cost_ns = 0;
		trial->arm[i].evidence.blocks = 0;
	}
}

/* ---- blocks ----------------------------------------------------------------------- */

/*
 * A claim that was made at the first chance is exaggerated on average. So a claimed arm
 * gets further blocks, from half of the budget, unless it does harm.
 */
static int is_worth_more(const struct kadapt_arm *arm)
{
	if (arm->evidence.blocks == KADAPT_BLOCKS)
		return 0;
	if (arm->state == KADAPT_ARM_HURTS)
		return arm->evidence.effect < HARM;
	return arm->state == KADAPT_ARM_OPEN || arm->state == KADAPT_ARM_HELPS;
}

static int is_before(const struct kadapt_arm *arm, const struct kadapt_arm *than)
{
	int is_open = arm->state == KADAPT_ARM_OPEN, other_is_open = than->state == KADAPT_ARM_OPEN;

	if (is_open != other_is_open)
		return is_open;
	return arm->evidence.blocks < than->evidence.blocks;
}

/* Open arms first, then the arm with the fewest blocks; -1 if none is worth a block. */
static int next_arm(const struct kadapt_trial *trial)
{
	int next = -1;

	for (unsigned int i = 0; i < trial->arms; i++)
		if (is_worth_more(&trial->arm[i]) && kadapt_arm_is_due(trial, &trial->arm[i]) &&
		    (next < 0 || is_before(&trial->arm[i], &trial->arm[next])))
			next = (int)i;
	return next;
}

static void begin_slot(struct kadapt_trial *trial, uint8_t slot)
{
	trial->slot = slot;
	trial->visit = 0;
	trial->sum[slot] = (struct kadapt_slot_sum){0};
}

static int is_sure(const struct kadapt_arm *arm)
{
	return arm->is_learned && kadapt_size(arm->learned_effect) > 2 * arm->learned_error;
}

static double part_of_budget(const struct kadapt_arm *arm)
{
	if (arm->state != KADAPT_ARM_OPEN)
		return PART_CLAIMED;
	return is_sure(arm) ? PART_LEARNED : 1;
}

static void begin_block(struct kadapt_trial *trial, const struct kadapt_budget *budget)
{
	int next = next_arm(trial);
	const struct kadapt_arm *arm;
	double risk_ns;

	if (next < 0) {
		trial->state = KADAPT_TRIAL_ENDED;
		return;
	}
	arm = &trial->arm[next];
	risk_ns = kadapt_arm_risk(trial, arm) * slot_visits(trial) * trial->mean_ns;
	if (!kadapt_budget_allows(budget, part_of_budget(arm), risk_ns))
		return;
	trial->tried = (uint8_t)next;
	trial->stood = kadapt_trial_standing(trial, arm->policy);
	trial->washout_sum = (struct kadapt_slot_sum){0};
	trial->is_level_first = kadapt_random(&trial->random) >> 63;
	trial->in_block = 1;
	trial->wait = trial->ahead;
	trial->acted = 0;
	begin_slot(trial, 0);
}

int kadapt_trial_is_at_level(const struct kadapt_trial *trial)
{
	return trial->is_level_first == (trial->slot == 0);
}

void kadapt_trial_levels(struct kadapt_trial *trial, const struct kadapt_budget *budget,
			 uint8_t levels[KADAPT_TRIAL_POLICIES])
{
	const struct kadapt_arm *arm;

	if (trial->state == KADAPT_TRIAL_GOING && !trial->in_block &&
	    (trial->begins_plain || trial->visits >= KADAPT_FEWEST))
		begin_block(trial, budget);
	for (uint8_t i = 0; i < trial->policies; i++)
		levels[i] = kadapt_trial_standing(trial, i);
	if (!trial->in_block || trial->wait)
		return;
	arm = tried_arm(trial);
	levels[arm->policy] = kadapt_trial_is_at_level(trial) ? arm->level : 0;
}

/* ---- judgement -------------------------------------------------------------------- */

static int is_negligible(const struct kadapt_arm *arm)
{
	double error;

	if (arm->evidence.blocks < KADAPT_PROBATION)
		return 0;
	error = kadapt_evidence_error(&arm->evidence);
	return kadapt_size(arm->evidence.effect) + 3 * error < NEGLIGIBLE;
}

static uint8_t judged(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	if (kadapt_evidence_helps(&arm->evidence, trial->error / 2))
		return KADAPT_ARM_HELPS;
	if (kadapt_evidence_hurts(&arm->evidence, trial->error / 2))
		return KADAPT_ARM_HURTS;
	if (arm->evidence.effect > HARM && kadapt_arm_is_visible(trial, arm))
		return KADAPT_ARM_DROPPED;
	if (!trial->acted && arm->evidence.blocks >= IDLE_BLOCKS)
		return KADAPT_ARM_IDLE;
	if (arm->evidence.blocks == KADAPT_BLOCKS || is_negligible(arm))
		return KADAPT_ARM_ENOUGH;
	return KADAPT_ARM_OPEN;
}

static double rate(const struct kadapt_slot_sum *sum)
{
	return kadapt_logarithm(sum->time_ns / sum->work);
}

static void end_block(struct kadapt_trial *trial, struct kadapt_budget *budget)
{
	struct kadapt_arm *arm = tried_arm(trial);
	double difference = rate(&trial->sum[0]) - rate(&trial->sum[1]);

	trial->in_block = 0;
	arm->visits += slot_visits(trial);
	kadapt_evidence_add(&arm->evidence, trial->is_level_first ? difference : -difference);
	kadapt_arm_account(trial, budget, arm, slot_visits(trial));
	if (arm->state == KADAPT_ARM_OPEN)
		arm->state = judged(trial, arm);
}

/* ---- visits ----------------------------------------------------------------------- */

static int advance(struct kadapt_trial *trial, struct kadapt_budget *budget,
		   const struct kadapt_visit *visit)
{
	struct kadapt_slot_sum *slot = &trial->sum[trial->slot];
	struct kadapt_slot_sum *sum = trial->visit < trial->washout ? &trial->washout_sum : slot;

	sum->time_ns += kadapt_larger(visit->time_ns[trial->clock], 1);
	sum->work += visit->work[trial->measure];
	trial->acted |= visit->acted && kadapt_trial_is_at_level(trial);
	trial->acted &= !visit->is_moot;
	if (++trial->visit < slot_visits(trial))
		return 0;
	if (slot->work <= 0) {
		kadapt_trial_disturbed(trial);
		return 0;
	}
	if (trial->slot == 0) {
		begin_slot(trial, 1);
		return 0;
	}
	end_block(trial, budget);
	return 1;
}

int kadapt_trial_visited(struct kadapt_trial *trial, struct kadapt_budget *budget,
			 const struct kadapt_visit *visit)
{
	double wall_ns = visit->time_ns[KADAPT_CLOCK_WALL];
	int ended = 0;

	if (wall_ns <= 0) {
		kadapt_trial_disturbed(trial);
		return 0;
	}
	trial->visits++;
	trial->mean_ns += (wall_ns - trial->mean_ns) / trial->visits;
	if (trial->state == KADAPT_TRIAL_WARM_UP)
		kadapt_trial_warm_up(trial, visit);
	else if (trial->in_block && trial->wait)
		trial->wait--;
	else if (trial->in_block)
		ended = advance(trial, budget, visit);
	return ended;
}

/* The budget does not count the visits of blocks that begin anew, so there are few. */
void kadapt_trial_disturbed(struct kadapt_trial *trial)
{
	if (!trial->in_block)
		return;
	begin_slot(trial, 0);
	if (++trial->disturbances < MOST_DISTURBANCES)
		return;
	trial->in_block = 0;
	trial->state = KADAPT_TRIAL_UNLIKE;
}
