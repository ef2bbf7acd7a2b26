/* SPDX-License-Identifier: MIT */
/*
 * The trials of one phase. Each policy of the phase has a plain behaviour (level 0) and
 * one or more levels. A trial compares a level with plain in blocks of two slots. In one
 * slot the policy is at the level, in the other it is plain; a coin decides which is
 * first. The phase's other policies stay as they are.
 *
 * A slot has visits that let the change take effect (wash-out) and then visits that are
 * measured. The caller asks which levels the next visit runs at, and says afterwards
 * how long the visit took. If visits are short or differ much, `together` of them count
 * as one visit: the caller asks once for all, and says how long they took. Nothing here makes a
 * system call or reads a clock, so that a simulation runs the same code.
 */
#ifndef LIBKADAPT_TRIAL_H
#define LIBKADAPT_TRIAL_H

#include <stdint.h>

#include "decide/budget.h"
#include "decide/state.h"

#pragma GCC visibility push(hidden)

void kadapt_trial_begin(struct kadapt_trial *trial);

/* Fills in the levels at which the next visit runs, one for each policy. */
void kadapt_trial_levels(struct kadapt_trial *trial, const struct kadapt_budget *budget,
			 uint8_t levels[KADAPT_TRIAL_POLICIES]);

/* The visit ended. Returns whether a block ended with it. */
int kadapt_trial_visited(struct kadapt_trial *trial, struct kadapt_budget *budget,
			 const struct kadapt_visit *visit);

/* The visit ended in a way that says nothing of its length. Its block begins anew. */
void kadapt_trial_disturbed(struct kadapt_trial *trial);

/* Of a trial in a block: whether the slot is the one in which the policy is at its level. */
int kadapt_trial_is_at_level(const struct kadapt_trial *trial);

#pragma GCC visibility pop

#endif
