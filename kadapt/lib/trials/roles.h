/* SPDX-License-Identifier: MIT */
/*
 * Ranks of one node try a level in the same visits: one rank leads the trial of a phase,
 * and the others follow. Otherwise a rank that tries a level holds up all ranks that wait
 * for it. The first rank whose warm-up shows visits that can be compared leads.
 */
#ifndef LIBKADAPT_TRIALS_ROLES_H
#define LIBKADAPT_TRIALS_ROLES_H

#include "base/device_file.h"
#include "trials/tried_phase.h"

/* The process shares memory with other ranks. */
KADAPT_HIDDEN void kadapt_role_begin(struct kadapt_tried_phase *place);

/* The warm-up of a phase that the process shares has ended. */
KADAPT_HIDDEN void kadapt_role_warmed_up(struct kadapt_tried_phase *place);

/*
 * A visit begins. Returns whether another rank leads the phase: then this process
 * measures nothing. The first time, the trial's state changes.
 */
KADAPT_HIDDEN int kadapt_role_is_led(struct kadapt_tried_phase *place);

/* Of a follower: the levels of the visit that begins. */
KADAPT_HIDDEN uint32_t kadapt_role_levels(struct kadapt_tried_phase *place);

/* Of the leader: tell the others what was decided. */
KADAPT_HIDDEN void kadapt_role_announce(struct kadapt_tried_phase *place);

#endif
