/* SPDX-License-Identifier: MIT */
/* The phases whose policies this process tries, and how far each has come. */
#ifndef LIBKADAPT_TRIALS_TRIED_PHASE_H
#define LIBKADAPT_TRIALS_TRIED_PHASE_H

#include <stdint.h>

#include "base/levels.h"
#include "decide/trial.h"
#include "ranks/schedule.h"
#include "trials/clocks.h"

#define KADAPT_PHASES 256      /* as the driver's */
#define KADAPT_TRIED_PHASES 16 /* phases beyond these are not tried */

/* A process's part in the trial of a phase. */
enum kadapt_role {
	KADAPT_ROLE_ALONE,   /* it shares the trial with nobody */
	KADAPT_ROLE_SHARES,  /* with other ranks of its node, and none of them leads yet */
	KADAPT_ROLE_LEADS,   /* it decides for all of them */
	KADAPT_ROLE_FOLLOWS, /* it does what the leader says */
};

struct kadapt_tried_phase {
	uint32_t phase;
	enum kadapt_role role;
	uint32_t visit;			 /* that begins now, from 0 */
	struct kadapt_schedule schedule; /* as the leader said it last */
	char is_over;			 /* its levels hold for ever */
	char is_open;			 /* a visit has begun */
	uint32_t left;			 /* visits until those taken together end */
	uint32_t mask, levels;		 /* of its policies, among all levels */
	double begun_ns[KADAPT_CLOCKS];
	uint64_t firings, allocated; /* when the visit began */
	uint64_t activity;	     /* of the tried policy, likewise */
	enum kadapt_tried policies[KADAPT_TRIED];
	struct kadapt_used begun;   /* what the process had used when the slot began */
	struct kadapt_used used[2]; /* in the block's slots */
	struct kadapt_trial trial;
};

/* Number 0 stands for all phases in which nothing is tried. */
struct kadapt_tried_phases {
	unsigned int count; /* the last number */
	uint8_t index_of[KADAPT_PHASES];
	struct kadapt_tried_phase phase[1 + KADAPT_TRIED_PHASES];
};

/* Takes from the plan the policies that this process can try. Begins no trial. */
KADAPT_HIDDEN void kadapt_tried_find(struct kadapt_tried_phases *tried);

/* Takes from the plan what was learned on machines of this kind. */
KADAPT_HIDDEN void kadapt_tried_learned(struct kadapt_tried_phases *tried);

#endif
