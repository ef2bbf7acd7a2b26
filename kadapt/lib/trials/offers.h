/* SPDX-License-Identifier: MIT */
/* What this process can run of the plan's policies, and what they have done. */
#ifndef LIBKADAPT_TRIALS_OFFERS_H
#define LIBKADAPT_TRIALS_OFFERS_H

#include <stdint.h>

#include "base/device_file.h"
#include "base/levels.h"

/* Sets the levels of all policies; ends the open rings if rings become plain. */
KADAPT_HIDDEN void kadapt_levels_set(uint32_t levels);

/* A number that has grown if the policy acted. */
KADAPT_HIDDEN uint64_t kadapt_activity(enum kadapt_tried policy);

/* Whether this process can run the policy at all. */
KADAPT_HIDDEN int kadapt_is_offered(enum kadapt_tried policy);

#endif
