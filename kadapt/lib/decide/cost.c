// SPDX-License-Identifier: MIT
#include "decide/cost.h"
#include "decide/numbers.h"
#include "decide/standing.h"

/* What an arm may cost of a visit, before anything is known of it. */
#define UNKNOWN_RISK 0.3
/* The budget counts on an effect that is so many standard errors worse than it looks. */
#define LIKELY_ERRORS 1.5
/* The loss that one block alone may show: it may have met a disturbance. */
#define MOST_OF_ONE_BLOCK 0.5

/*
 * What visits lose that are worse by `effect`, as a share of a visit: e^x - 1, of small
 * x. What they gain does not count.
 */
static double loss_of(const struct kadapt_trial *trial, const struct kadapt_arm *arm, double effect)
{
	double most = effect + LIKELY_ERRORS * kadapt_arm_error(trial, arm);

	if (arm->evidence.blocks == 1 && most > MOST_OF_ONE_BLOCK)
		most = MOST_OF_ONE_BLOCK;
	return most > 0 ? most * (1 + most / 2) : 0;
}

/*
 * What looks like an effect may be noise, and the truth may be the opposite. So until the
 * effect is visible, a block costs one slot, whichever stands.
 */
static int is_clear(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	return arm->state != KADAPT_ARM_OPEN || kadapt_arm_is_visible(trial, arm);
}

/* What is lost in so many visits that are plain and at the level, in visits. */
static double lost_in(const struct kadapt_trial *trial, const struct kadapt_arm *arm,
		      uint32_t plain, uint32_t at_level)
{
	double effect = arm->evidence.effect;

	return loss_of(trial, arm, -effect) * plain + loss_of(trial, arm, effect) * at_level;
}

double kadapt_arm_risk(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	uint8_t standing = kadapt_trial_standing(trial, arm->policy);

	if (arm->evidence.blocks < 2)
		return arm->is_learned ? kadapt_size(arm->learned_effect) + 2 * arm->learned_error
				       : UNKNOWN_RISK;
	if (!is_clear(trial, arm))
		return loss_of(trial, arm, kadapt_size(arm->evidence.effect));
	return lost_in(trial, arm, standing != 0, standing != arm->level);
}

/*
 * A change may cost something by itself: memory that was given back is touched anew. One
 * slow wash-out may be a disturbance, so the cheapest of all blocks is the price, and one
 * block alone tells no price.
 */
static double price_of_change(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	const struct kadapt_slot_sum *sum = trial->sum;
	double rate = (sum[0].time_ns + sum[1].time_ns) / (sum[0].work + sum[1].work);
	double price =
	    kadapt_larger(trial->washout_sum.time_ns - rate * trial->washout_sum.work, 0);

	return arm->evidence.blocks == 1 || price < arm->price_ns ? price : arm->price_ns;
}

void kadapt_arm_account(const struct kadapt_trial *trial, struct kadapt_budget *budget,
			struct kadapt_arm *arm, unsigned int slot_visits)
{
	double lost, cost;

	if (trial->stood != arm->level)
		arm->lost[1] += slot_visits;
	if (trial->stood != 0)
		arm->lost[0] += slot_visits;
	arm->price_ns = price_of_change(trial, arm);
	lost = is_clear(trial, arm)
		   ? lost_in(trial, arm, arm->lost[0], arm->lost[1])
		   : loss_of(trial, arm, kadapt_size(arm->evidence.effect)) * arm->visits;
	cost = lost * trial->mean_ns;
	if (arm->evidence.blocks > 1)
		cost += arm->price_ns * arm->evidence.blocks;
	budget->spent_ns += cost - arm->cost_ns;
	arm->cost_ns = cost;
}
