// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "decide/numbers.h"
#include "decide/standing.h"

/* Standard errors beyond which an effect is visible, if there are many blocks. */
#define VISIBLE_ERRORS 2.75
/* What the warm-up's spread is worth as an estimate, in degrees of freedom. */
#define WARM_UP_DEGREES 4
/* The standard deviation of normal noise over its median absolute deviation. */
#define SIGMAS_OF_SPREAD 1.4826

double kadapt_arm_error(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	uint32_t blocks = arm->evidence.blocks;
	double expected = SIGMAS_OF_SPREAD * trial->spread / kadapt_root(blocks);
	double error = blocks > 1 ? kadapt_evidence_error(&arm->evidence) : 0;

	return kadapt_root((WARM_UP_DEGREES * expected * expected + (blocks - 1) * error * error) /
			   (WARM_UP_DEGREES + blocks - 1));
}

int kadapt_arm_is_visible(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	double blocks = arm->evidence.blocks;

	return blocks > 1 && kadapt_size(arm->evidence.effect) >
				 VISIBLE_ERRORS * (1 + 1 / blocks) * kadapt_arm_error(trial, arm);
}

/*
 * A level is on probation if the run has the visits to learn what it is worth. If it
 * visibly helps, the probation ends early.
 */
static int is_trusted(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	if (arm->state == KADAPT_ARM_HURTS || arm->state == KADAPT_ARM_DROPPED)
		return 0;
	if (arm->is_learned)
		return arm->learned_effect < 0;
	return !trial->begins_plain || trial->state > KADAPT_TRIAL_GOING ||
	       arm->evidence.blocks >= KADAPT_PROBATION || arm->state != KADAPT_ARM_OPEN ||
	       (arm->evidence.effect < 0 && kadapt_arm_is_visible(trial, arm));
}

static int is_better(const struct kadapt_arm *arm, const struct kadapt_arm *than)
{
	return !than || arm->evidence.effect < than->evidence.effect;
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

int kadapt_arm_is_due(const struct kadapt_trial *trial, const struct kadapt_arm *arm)
{
	return arm->state != KADAPT_ARM_HELPS ||
	       kadapt_trial_standing(trial, arm->policy) == arm->level;
}
