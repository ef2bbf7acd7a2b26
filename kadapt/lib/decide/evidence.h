/* SPDX-License-Identifier: MIT */
/*
 * What the blocks of a trial say about one arm. A block has one difference: the
 * logarithm of the arm's time for a piece of work over the plain behaviour's. It is
 * positive if the arm hurts. A coin decided which of the two came first. So, for the
 * true effect, a difference minus the effect is as likely positive as negative, whatever
 * drift, autocorrelation or heavy tails the times have (Fisher 1935, The Design of
 * Experiments, chapter III).
 *
 * Claims bet on the sign of the differences, and may be looked at after every block
 * (Ville's inequality; Waudby-Smith and Ramdas 2024, "Estimating means of bounded random
 * variables by betting", section 4). Differences are limited to a bound that is known
 * before the block begins, so that one disturbed visit decides nothing (Huber 1964).
 */
#ifndef LIBKADAPT_EVIDENCE_H
#define LIBKADAPT_EVIDENCE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Blocks of an arm. When that many are known, the arm is tried no more. */
#define KADAPT_BLOCKS 256

/* Parts of the capital that players bet on a sign. */
#define KADAPT_BETS 7

struct kadapt_block {
	float difference; /* natural logarithm of a ratio of times */
	float bound;	  /* of the difference, from earlier blocks only */
};

struct kadapt_evidence {
	uint32_t blocks;
	float bound;   /* of the next block */
	double effect; /* with which the limited differences sum to 0; 0 without blocks */
	double helps[KADAPT_BETS]; /* capitals of those who bet on an effect below 0 */
	double hurts[KADAPT_BETS]; /* and above 0 */
	struct kadapt_block block[KADAPT_BLOCKS];
};

struct kadapt_interval {
	double low, high; /* of the effect; -INFINITY and INFINITY if nothing is known */
};

/* `spread` is the median absolute difference of two successive stretches of the warm-up. */
void kadapt_evidence_begin(struct kadapt_evidence *evidence, double spread);

/* There must be room: `blocks` below KADAPT_BLOCKS. */
void kadapt_evidence_add(struct kadapt_evidence *evidence, double difference);

/* The standard error of that effect; INFINITY for fewer than two blocks. */
double kadapt_evidence_error(const struct kadapt_evidence *evidence);

/*
 * Whether the effect is surely below 0 or above 0. Over all looks together, each answer
 * is wrongly yes with at most the probability `error`.
 */
int kadapt_evidence_helps(const struct kadapt_evidence *evidence, double error);
int kadapt_evidence_hurts(const struct kadapt_evidence *evidence, double error);

/* An interval with 95 % confidence, for one look. */
struct kadapt_interval kadapt_evidence_interval(const struct kadapt_evidence *evidence);

#pragma GCC visibility pop

#endif
