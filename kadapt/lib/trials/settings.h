/* SPDX-License-Identifier: MIT */
/*
 * What the user and the job say about trials, in the environment:
 *
 *	KADAPT_TRIALS=off|on|N%		off: none; N%: the budget, 1% by default
 *	KADAPT_TRIALS_SEED=TEXT		the same text, the same order of levels
 *
 * Without KADAPT_TRIALS_SEED the job's number is the seed.
 */
#ifndef LIBKADAPT_TRIALS_SETTINGS_H
#define LIBKADAPT_TRIALS_SETTINGS_H

#include <stdint.h>

#include "base/device_file.h"
#include "ranks/job.h"

struct kadapt_settings {
	double share; /* of the run's time that trying may cost */
	uint64_t seed;
	struct kadapt_job job;
};

/* Returns 0 if there are to be no trials. A value that makes no sense means the default. */
KADAPT_HIDDEN int kadapt_settings_read(struct kadapt_settings *settings);

#endif
