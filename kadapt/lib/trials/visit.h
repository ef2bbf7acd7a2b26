/* SPDX-License-Identifier: MIT */
/* What one visit of a tried phase took. */
#ifndef LIBKADAPT_TRIALS_VISIT_H
#define LIBKADAPT_TRIALS_VISIT_H

#include <stdint.h>

#include "base/device_file.h"
#include "trials/tried_phase.h"

/* `firings` are those of the phase's marker so far. */
KADAPT_HIDDEN void kadapt_visit_begin(struct kadapt_tried_phase *place, double now,
				      uint64_t firings);

/* The visit that began last. If its slot ends with it, also notes what the slot used. */
KADAPT_HIDDEN struct kadapt_visit kadapt_visit_end(struct kadapt_tried_phase *place, double now,
						   uint64_t firings);

/* Of a phase in a block: the policy that is tried. */
KADAPT_HIDDEN enum kadapt_tried kadapt_tried_policy(const struct kadapt_tried_phase *place);

#endif
