// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "decide/numbers.h"
#include "decide/trial.h"
#include "decide/warm_up.h"

/* What an arm may cost of a visit, before anything is known of it. */
#define UNKNOWN_RISK 0.3
/* A level is not kept standing before this many blocks, unless it is surely better. */
#define PROBATION 10
/* An arm that looks worse than this of a visit is dropped as a precaution. */
#define HARM 0.05
/* Standard errors beyond which an effect is visible, if there are many blocks. */
#define VISIBLE_ERRORS 2.75
/* What the warm-up's spread is worth as an estimate, in degrees of freedom. */
#define WARM_UP_DEGREES 4
/* The budget counts on an effect that is so many standard errors larger than it looks. */
#define LIKELY_ERRORS 1.5
/* The effect that one block alone may show: it may have met a disturbance. */
#define MOST_OF_ONE_BLOCK 0.5
/* The standard deviation of normal noise over its median absolute deviation. */
#define SIGMAS_OF_SPREAD 1.4826
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
	trial->state = KADAPT_TRIAL_WARM_UP;
	trial->measured = 1;
	trial->in_block = 0;
	trial->disturbances = 0;
	trial->visits = 0;
	trial->stretches = 0;
	trial->stretch = (struct kadapt_visit){0};
	trial->mean_ns = 0;
	for (unsigned int i = 0; i < KADAPT_MEASURES; i++)
		trial->is_out[i] = 0;
	for (unsigned int i = 0; i < trial->arms; i++) {
		trial->arm[i].state = KADAPT_ARM_OPEN;
		trial->arm[i].visits = 0;
		trial->arm[i].cost_ns = 0;
		trial->arm[i].evidence.blocks = 0;
	}
}

/* ---- what stands ------------------------------------------------------------------ */

static int is_better(const struct kadapt_arm *arm, const struct kadapt_arm *than)
{
	return !than || arm->evidence.effect < than->evidence.effect;
}

/*
 * The standard error of the effect. While there are few blocks, the warm-up says more of
 * the noise than they do, so both count by their degrees of freedom.
 */
static double error_of(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	uint32_t blocks = arm->evidence.blocks;
	double expected = SIGMAS_OF_SPREAD * trial->spread / kadapt_root(blocks);
	double error = blocks > 1 ? kadapt_evidence_error(&arm->evidence) : 0;

	return kadapt_root((WARM_UP_DEGREES * expected * expected + (blocks - 1) * error * error) /
			   (WARM_UP_DEGREES + blocks - 1));
}

/*
 * Whether the effect is beyond noise, by an estimate that no claim would rest on. With
 * few blocks the error itself is uncertain.
 */
static int is_visible(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	double blocks = arm->evidence.blocks;

	return blocks > 1 && kadapt_size(arm->evidence.effect) >
				 VISIBLE_ERRORS * (1 + 1 / blocks) * error_of(trial, arm);
}

/*
 * A level is on probation if the run has the visits to learn what it is worth. If it
 * helps much, the budget allows few blocks, so then the probation ends early.
 */
static int is_trusted(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	if (arm->state == KADAPT_ARM_HURTS || arm->state == KADAPT_ARM_DROPPED)
		return 0;
	if (arm->is_learned)
		return arm->learned_effect < 0;
	return !trial->begins_plain || trial->state > KADAPT_TRIAL_GOING ||
	       arm->evidence.blocks >= PROBATION || arm->state != KADAPT_ARM_OPEN ||
	       (arm->evidence.effect < 0 && is_visible(trial, arm));
}

/*
 * The level that surely helps most; without one, the plan's level, if that is trusted.
 */
uint8_t kadapt_trial_standing(const struct kadapt_trial *trial, uint8_t policy)
{
	const struct kadapt_arm *best = NULL;
	uint8_t standing = 0;

	for (unsigned int i = 0; i < trial->arms; i++) {
		const struct kadapt_arm *arm = &trial->arm[i];

		if (arm->policy != policy)
			continue;
		if (arm->state == KADAPT_ARM_HELPS && is_better(arm, best))
			best = arm;
		if (arm->level == trial->prior[policy] && is_trusted(trial, arm))
			standing = arm->level;
	}
	return best ? best->level : standing;
}

/* ---- blocks ----------------------------------------------------------------------- */

/*
 * The most that the worse visits of blocks are likely to lose, as a share of a visit:
 * e^x - 1, of small x.
 */
static double loss_of(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	double most = kadapt_size(arm->evidence.effect) + LIKELY_ERRORS * error_of(trial, arm);

	if (arm->evidence.blocks == 1 && most > MOST_OF_ONE_BLOCK)
		most = MOST_OF_ONE_BLOCK;
	return most * (1 + most / 2);
}

/* What a visit at the arm's level, or the plain visit beside it, may lose. */
static double risk_of(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	if (arm->evidence.blocks > 1)
		return loss_of(trial, arm);
	if (arm->is_learned)
		return kadapt_size(arm->learned_effect) + 2 * arm->learned_error;
	return UNKNOWN_RISK;
}

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
		if (is_worth_more(&trial->arm[i]) &&
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
	double risk_ns;

	if (next < 0) {
		trial->state = KADAPT_TRIAL_ENDED;
		return;
	}
	risk_ns = risk_of(trial, &trial->arm[next]) * slot_visits(trial) * trial->mean_ns;
	if (!kadapt_budget_allows(budget, part_of_budget(&trial->arm[next]), risk_ns))
		return;
	trial->tried = (uint8_t)next;
	trial->is_level_first = kadapt_random(&trial->random) >> 63;
	trial->in_block = 1;
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
	if (!trial->in_block)
		return;
	arm = tried_arm(trial);
	levels[arm->policy] = kadapt_trial_is_at_level(trial) ? arm->level : 0;
}

/* ---- judgement -------------------------------------------------------------------- */

static int is_negligible(const struct kadapt_arm *arm)
{
	double error;

	if (arm->evidence.blocks < PROBATION)
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
	if (arm->evidence.effect > HARM && is_visible(trial, arm))
		return KADAPT_ARM_DROPPED;
	if (!trial->acted && arm->evidence.blocks >= IDLE_BLOCKS)
		return KADAPT_ARM_IDLE;
	if (arm->evidence.blocks == KADAPT_BLOCKS || is_negligible(arm))
		return KADAPT_ARM_ENOUGH;
	return KADAPT_ARM_OPEN;
}

/* What the arm's blocks cost against the better of its level and plain. */
static void account(struct kadapt_trial *trial, struct kadapt_budget *budget,
		    struct kadapt_arm *arm)
{
	double cost = loss_of(trial, arm) * arm->visits * trial->mean_ns;

	budget->spent_ns += cost - arm->cost_ns;
	arm->cost_ns = cost;
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
	account(trial, budget, arm);
	if (arm->state == KADAPT_ARM_OPEN)
		arm->state = judged(trial, arm);
}

/* ---- visits ----------------------------------------------------------------------- */

static int advance(struct kadapt_trial *trial, struct kadapt_budget *budget,
		   const struct kadapt_visit *visit)
{
	struct kadapt_slot_sum *sum = &trial->sum[trial->slot];

	if (trial->visit >= trial->washout) {
		sum->time_ns += kadapt_larger(visit->time_ns[trial->clock], 1);
		sum->work += visit->work[trial->measure];
	}
	trial->acted |= visit->acted && kadapt_trial_is_at_level(trial);
	if (++trial->visit < slot_visits(trial))
		return 0;
	if (sum->work <= 0) {
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
	trial->mean_ns += (wall_ns - trial->mean_ns) / (trial->visits + 1);
	if (trial->state == KADAPT_TRIAL_WARM_UP)
		kadapt_trial_warm_up(trial, visit);
	else if (trial->in_block)
		ended = advance(trial, budget, visit);
	trial->visits++;
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
