/* SPDX-License-Identifier: MIT */
/*
 * What the blocks of an arm cost. A block has two slots, one at the arm's level and one
 * plain. The level that stands would have run anyway, so its slot costs nothing. Another
 * slot costs as much as its level is worse than the level that stands.
 */
#ifndef LIBKADAPT_COST_H
#define LIBKADAPT_COST_H

#include "decide/budget.h"
#include "decide/state.h"

#pragma GCC visibility push(hidden)

/* The share of a visit that the next block is likely to lose in each visit of a slot. */
double kadapt_arm_risk(const struct kadapt_trial *trial, const struct kadapt_arm *arm);

/*
 * A block of `slot_visits` visits a slot ended. Puts what the arm's blocks cost, by what
 * is known now, into the budget.
 */
void kadapt_arm_account(const struct kadapt_trial *trial, struct kadapt_budget *budget,
			struct kadapt_arm *arm, unsigned int slot_visits);

#pragma GCC visibility pop

#endif
