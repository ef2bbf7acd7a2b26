/* SPDX-License-Identifier: MIT */
/*
 * The record of this process's trials: lines of JSON, appended to KADAPT_TRIALS_RECORD
 * one write(2) each, so that a killed process leaves all blocks but the last. Without
 * that variable nothing is written. docs/artefacts-jobs.md describes the lines.
 */
#ifndef LIBKADAPT_TRIALS_RECORD_H
#define LIBKADAPT_TRIALS_RECORD_H

#include <stdint.h>

#include "base/device_file.h"
#include "trials/clocks.h"
#include "decide/trial.h"

/* Plain first, then at the arm's level. */
struct kadapt_block_use {
	struct kadapt_slot_sum sum[2];
	struct kadapt_used used[2]; /* in the measured visits */
};

KADAPT_HIDDEN void kadapt_record_begin(uint64_t seed, double share);
KADAPT_HIDDEN void kadapt_record_phase(uint32_t phase, const struct kadapt_trial *trial);
KADAPT_HIDDEN void kadapt_record_block(uint32_t phase, unsigned int policy,
				       const struct kadapt_trial *trial,
				       const struct kadapt_block_use *use);
KADAPT_HIDDEN void kadapt_record_decision(uint32_t phase, unsigned int policy,
					  const struct kadapt_trial *trial);
KADAPT_HIDDEN void kadapt_record_end(const struct kadapt_budget *budget, uint64_t boundaries);

/* A forked child writes nothing. */
KADAPT_HIDDEN void kadapt_record_stop(void);

#endif
