/* SPDX-License-Identifier: MIT */
/*
 * Memory that the ranks of one job on one node share: the schedule of each phase. It is a
 * file in /dev/shm, of the user's own, which is removed when all ranks have come.
 */
#ifndef LIBKADAPT_RANKS_SHARED_H
#define LIBKADAPT_RANKS_SHARED_H

#include <stdint.h>

#include "base/device_file.h"
#include "ranks/job.h"
#include "ranks/schedule.h"

#define KADAPT_SHARED_PHASES 256 /* as the driver's */

/*
 * Returns whether this process shares memory with other ranks that have the same `plan`.
 * If not, the process decides alone.
 */
KADAPT_HIDDEN int kadapt_shared_begin(const struct kadapt_job *job, uint64_t plan);

/* A forked child is no rank. */
KADAPT_HIDDEN void kadapt_shared_leave(void);

/* At the process's end. */
KADAPT_HIDDEN void kadapt_shared_end(void);

/* The rest is for processes that share. Phases are below KADAPT_SHARED_PHASES. */

/* Returns whether this process now leads the phase. The first to ask does. */
KADAPT_HIDDEN int kadapt_shared_lead(uint32_t phase);

/* Whether any process leads the phase. */
KADAPT_HIDDEN int kadapt_shared_is_led(uint32_t phase);

KADAPT_HIDDEN void kadapt_shared_publish(uint32_t phase, const struct kadapt_schedule *schedule);
KADAPT_HIDDEN struct kadapt_schedule kadapt_shared_read(uint32_t phase);

#endif
