/* SPDX-License-Identifier: MIT */
/* Which level of a policy stands outside of blocks. */
#ifndef LIBKADAPT_STANDING_H
#define LIBKADAPT_STANDING_H

#include "decide/state.h"

#pragma GCC visibility push(hidden)

/* A level is not kept standing before this many blocks, unless it is surely better. */
#define KADAPT_PROBATION 10

/*
 * The standard error of the arm's effect. While there are few blocks, the warm-up says
 * more of the noise than they do, so both count by their degrees of freedom.
 */
double kadapt_arm_error(const struct kadapt_trial *trial, const struct kadapt_arm *arm);

/*
 * Whether the effect is beyond noise, by an estimate that no claim would rest on. With
 * few blocks the error itself is uncertain.
 */
int kadapt_arm_is_visible(const struct kadapt_trial *trial, const struct kadapt_arm *arm);

/* Whether the arm may be tried now. A level that surely helps is tried only while it stands. */
int kadapt_arm_is_due(const struct kadapt_trial *trial, const struct kadapt_arm *arm);

/* The level that a policy has outside of blocks. */
uint8_t kadapt_trial_standing(const struct kadapt_trial *trial, uint8_t policy);

#pragma GCC visibility pop

#endif
