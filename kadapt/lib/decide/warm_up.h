/* SPDX-License-Identifier: MIT */
/*
 * The warm-up of a trial: how long the phase's visits are, how much they differ, and by
 * which clock and measure they differ least.
 */
#ifndef LIBKADAPT_WARM_UP_H
#define LIBKADAPT_WARM_UP_H

#include "decide/state.h"

#pragma GCC visibility push(hidden)

/* From now on, so many visits count as one. */
void kadapt_trial_begin_warm_up(struct kadapt_trial *trial, unsigned int together);

/* A visit of the warm-up ended. With the last one, the trial gets its state. */
void kadapt_trial_warm_up(struct kadapt_trial *trial, const struct kadapt_visit *visit);

#pragma GCC visibility pop

#endif
