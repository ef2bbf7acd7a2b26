// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "libkadapt.h"
#include "trials/kind.h"
#include "trials/offers.h"
#include "base/quantum.h"
#include "trials/tried_phase.h"

#define PPM 1e-6
/* Slots are at least so long, so that a block's record costs little. */
#define SLOT_NS 5e6
/* Visits that are taken together have one level, so a run must have many times as many. */
#define MOST_TOGETHER 1024
/* With so many visits, another level of a policy is tried, too. */
#define VISITS_FOR_LEVELS 400

static void add_arm(struct kadapt_tried_phase *place, uint8_t policy, uint8_t level)
{
	struct kadapt_trial *trial = &place->trial;

	if (trial->arms < KADAPT_TRIAL_ARMS)
		trial->arm[trial->arms++] = (struct kadapt_arm){.policy = policy, .level = level};
}

static int may_try(const struct kadapt_plan_policy *planned, enum kadapt_tried policy)
{
	if (!(planned->tried & 1U << policy) || !kadapt_is_offered(policy))
		return 0;
	return policy != KADAPT_TRIED_QUANTUM || kadapt_is_quantum_tried(planned);
}

static void add_policy(struct kadapt_tried_phase *place, const struct kadapt_plan_policy *planned,
		       enum kadapt_tried policy)
{
	struct kadapt_trial *trial = &place->trial;
	uint8_t number = trial->policies;

	if (!may_try(planned, policy))
		return;
	trial->policies++;
	place->policies[number] = policy;
	trial->prior[number] = KADAPT_LEVEL_PLANNED;
	add_arm(place, number, KADAPT_LEVEL_PLANNED);
	if (planned->visits >= VISITS_FOR_LEVELS && kadapt_has_less(policy))
		add_arm(place, number, KADAPT_LEVEL_LESS);
	/* Kept memory and huge pages of the level before are still there in the next visit. */
	if (policy == KADAPT_TRIED_MEMORY)
		trial->washout = 1;
	/* Others save processor time; a quantum changes who waits. */
	if (policy == KADAPT_TRIED_QUANTUM)
		trial->needs_wall = 1;
}

static void add_phase(struct kadapt_tried_phases *tried, const struct kadapt_plan_policy *planned)
{
	struct kadapt_tried_phase *place = &tried->phase[tried->count + 1];

	if (tried->count == KADAPT_TRIED_PHASES || planned->phase >= KADAPT_PHASES)
		return;
	place->phase = planned->phase;
	for (int policy = 0; policy < KADAPT_TRIED; policy++)
		add_policy(place, planned, (enum kadapt_tried)policy);
	if (!place->trial.arms)
		return;
	place->trial.planned = planned->visits;
	place->trial.most_together = MOST_TOGETHER;
	place->trial.slot_ns = SLOT_NS;
	tried->index_of[planned->phase] = (uint8_t)++tried->count;
}

void kadapt_tried_find(struct kadapt_tried_phases *tried)
{
	for (uint32_t i = 0; i < kadapt_plan.policies; i++)
		add_phase(tried, &kadapt_plan.policy[i]);
}

static struct kadapt_arm *arm_of(struct kadapt_tried_phases *tried,
				 const struct kadapt_plan_learned *learned)
{
	struct kadapt_tried_phase *place;

	if (learned->phase >= KADAPT_PHASES || !tried->index_of[learned->phase])
		return NULL;
	place = &tried->phase[tried->index_of[learned->phase]];
	for (unsigned int i = 0; i < place->trial.arms; i++)
		if (1U << place->policies[place->trial.arm[i].policy] == learned->policy &&
		    place->trial.arm[i].level == learned->level)
			return &place->trial.arm[i];
	return NULL;
}

void kadapt_tried_learned(struct kadapt_tried_phases *tried)
{
	const struct kadapt_plan_learned *learned =
	    (const struct kadapt_plan_learned *)&kadapt_plan.policy[kadapt_plan.policies];
	struct kadapt_machine_kind kind;
	uint64_t here;

	if (!kadapt_plan.learned)
		return;
	kadapt_kind_look(&kind);
	here = kadapt_kind_hash(&kind);
	for (uint32_t i = 0; i < kadapt_plan.learned; i++) {
		struct kadapt_arm *arm =
		    learned[i].machine == here ? arm_of(tried, &learned[i]) : NULL;

		if (!arm)
			continue;
		arm->is_learned = 1;
		arm->learned_effect = (float)(learned[i].effect_ppm * PPM);
		arm->learned_error = (float)(learned[i].error_ppm * PPM);
	}
}
