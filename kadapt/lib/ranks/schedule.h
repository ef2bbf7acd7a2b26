/* SPDX-License-Identifier: MIT */
/*
 * At which levels the ranks of a node make their visits of a phase. One rank decides, and
 * says so before the visit begins. So the others need no clock and no evidence.
 *
 * Visits are numbered from 0, by each rank for itself. Ranks that wait for one another in
 * each visit are at most one visit apart.
 */
#ifndef LIBKADAPT_RANKS_SCHEDULE_H
#define LIBKADAPT_RANKS_SCHEDULE_H

#include <stdint.h>

/* Visits from the decision to the block's first visit. */
#define KADAPT_AHEAD 2

struct kadapt_schedule {
	uint32_t from;	      /* the block's first visit */
	uint16_t standing;    /* levels outside of the block, four bits for each policy */
	uint8_t last;	      /* visits of a slot, minus 1 */
	uint8_t policy : 2;   /* that the block tries */
	uint8_t level : 2;    /* at which it tries the policy */
	uint8_t is_first : 1; /* the level's slot comes first */
	uint8_t has_block : 1;
	uint8_t is_ended : 1; /* the standing levels hold for ever */
	uint8_t is_decided : 1;
};

_Static_assert(sizeof(struct kadapt_schedule) == sizeof(uint64_t), "must be stored in one go");

/* The levels of a visit, four bits for each policy. */
__attribute__((visibility("hidden"))) uint32_t
kadapt_schedule_levels(const struct kadapt_schedule *schedule, uint32_t visit);

#endif
