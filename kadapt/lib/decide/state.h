/* SPDX-License-Identifier: MIT */
/* What a trial is about, and how far it has come. */
#ifndef LIBKADAPT_STATE_H
#define LIBKADAPT_STATE_H

#include <stdint.h>

#include "decide/evidence.h"

#define KADAPT_TRIAL_POLICIES 4 /* of a phase */
#define KADAPT_TRIAL_ARMS 6	/* levels of all its policies */
#define KADAPT_WARM_UP 12	/* stretches of visits that show how much visits differ */
#define KADAPT_FEWEST 40	/* visits of a run; with fewer, nothing can be learned */
/*
 * Runs with so many visits begin plain, because they can learn what a level is worth.
 * In simulated runs of 100 visits with a level that takes 10 % off, the budget allowed
 * 1.7 blocks: a run that begins plain stays plain, and loses all of the gain.
 */
#define KADAPT_MANY_VISITS 150

/*
 * By what a visit's time is divided. In the warm-up the trial chooses the measure that
 * makes visits most alike.
 */
enum kadapt_measure {
	KADAPT_MEASURE_VISITS, /* always 1 */
	KADAPT_MEASURE_FIRINGS,
	KADAPT_MEASURE_ALLOCATED,
	KADAPT_MEASURES,
};

/*
 * By which a visit is timed: wall time, or the processor time of the whole process if
 * neighbours make wall time much noisier.
 */
enum kadapt_clock { KADAPT_CLOCK_WALL, KADAPT_CLOCK_TASK, KADAPT_CLOCKS };

enum kadapt_arm_state {
	KADAPT_ARM_OPEN,
	KADAPT_ARM_HELPS,   /* claimed */
	KADAPT_ARM_HURTS,   /* claimed */
	KADAPT_ARM_DROPPED, /* as a precaution: it looked harmful, which is no claim */
	KADAPT_ARM_ENOUGH,  /* its effect is known to be too small, or there is no room */
	KADAPT_ARM_IDLE,    /* the policy did nothing in its first blocks */
};

/* Why a phase is not tried, or not yet. */
enum kadapt_trial_state {
	KADAPT_TRIAL_WARM_UP,
	KADAPT_TRIAL_GOING,
	KADAPT_TRIAL_ENDED,   /* nothing is open */
	KADAPT_TRIAL_UNLIKE,  /* visits differ too much from one another */
	KADAPT_TRIAL_SHORT,   /* measuring would cost too much of a visit */
	KADAPT_TRIAL_FOLLOWS, /* another rank decides; nothing is measured here */
};

struct kadapt_arm {
	uint8_t policy;
	uint8_t level; /* from 1 */
	uint8_t state; /* enum kadapt_arm_state */
	uint8_t is_learned;
	float learned_effect; /* from earlier runs, and its standard error */
	float learned_error;
	uint32_t visits;  /* at this level, in blocks */
	uint32_t lost[2]; /* in blocks, plain and at the level, unless that stood */
	double price_ns;  /* of a change to the level and back */
	double cost_ns;	  /* part of the budget's spent_ns */
	struct kadapt_evidence evidence;
};

/*
 * What one visit took, or several that are taken together. Work of 0 means that the
 * measure says nothing.
 */
struct kadapt_visit {
	double time_ns[KADAPT_CLOCKS];
	double work[KADAPT_MEASURES];
	int acted;   /* the tried policy did something */
	int is_moot; /* nothing in its block can have depended on the policy */
};

/* A sum over visits. */
struct kadapt_slot_sum {
	double time_ns;
	double work;
};

struct kadapt_trial {
	/* set by the caller before kadapt_trial_begin() */
	uint8_t policies, arms;
	uint8_t washout;		      /* visits of a slot that are not measured */
	uint8_t needs_wall;		      /* a policy acts on waiting, too */
	uint8_t ahead;			      /* visits from a block's decision to its first */
	uint8_t prior[KADAPT_TRIAL_POLICIES]; /* levels that the plan believes in */
	double slot_ns;			      /* least time of a slot's measured visits */
	double least_ns;		      /* shorter visits are taken together */
	double error;			      /* probability of a wrong claim about one arm */
	uint32_t planned;		      /* visits of the profiled run */
	uint16_t most_together;		      /* visits that may be taken together, from 1 */
	uint64_t random;
	struct kadapt_arm arm[KADAPT_TRIAL_ARMS];

	uint8_t state;	      /* enum kadapt_trial_state */
	uint8_t clock;	      /* enum kadapt_clock */
	uint8_t measure;      /* enum kadapt_measure */
	uint8_t begins_plain; /* the run is known to have many visits */
	uint16_t together;    /* visits that count as one, here and below */
	uint8_t measured;     /* visits of a slot that are measured */
	uint8_t in_block;
	uint8_t wait;  /* visits until the block's first */
	uint8_t tried; /* the block's arm */
	uint8_t stood; /* the level of its policy when the block began */
	uint8_t is_level_first;
	uint8_t acted;
	uint8_t disturbances;
	uint8_t slot;			    /* of the block */
	uint16_t visit;			    /* of the slot */
	uint32_t visits;		    /* that have ended */
	uint32_t stretches;		    /* of the warm-up, likewise */
	struct kadapt_visit stretch;	    /* the sum of its visits */
	double spread;			    /* median absolute difference of successive visits */
	double mean_ns;			    /* of a visit */
	struct kadapt_slot_sum sum[2];	    /* of the slots */
	struct kadapt_slot_sum washout_sum; /* of the block's wash-out */
	double last[KADAPT_CLOCKS][KADAPT_MEASURES]; /* logarithms, in the warm-up */
	uint8_t is_out[KADAPT_MEASURES];	     /* a visit had no such work */
	float differences[KADAPT_CLOCKS][KADAPT_MEASURES][KADAPT_WARM_UP];
};

#endif
