// SPDX-License-Identifier: MIT
#include <math.h>

#include "decide/evidence.h"
#include "decide/numbers.h"

/* Of the bound to the median absolute difference. For normal noise it is 1.5 sigma. */
#define BOUND_FACTOR 2.2
/* Times that are equal to the nanosecond must not give a bound of 0. */
#define LEAST_BOUND 1e-5
/* Where effects are looked for: a ratio of times from e^-2 to e^2. */
#define WIDEST 2.0
#define HALVINGS 24
/* With so many blocks, the bounds of intervals are twice as wide. */
#define FEW_BLOCKS 16.0
/*
 * What the blocks show decides how many there are. Intervals by Student's t alone cover
 * in 92.6 to 96.9 % of simulated runs (bench-trials-simulated).
 */
#define WIDER 1.03

static const double bets[KADAPT_BETS] = {0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 0.95};

static double limited(double value, double bound)
{
	return value > bound ? bound : value < -bound ? -bound : value;
}

static double residual(const struct kadapt_block *block, double effect)
{
	return limited(block->difference - effect, block->bound);
}

/* Student's t allows for heavy tails if there are few blocks, so bounds are wide then. */
static double wide_residual(const struct kadapt_evidence *evidence, uint32_t i, double effect)
{
	const struct kadapt_block *block = &evidence->block[i];

	return limited(block->difference - effect,
		       block->bound * (1 + FEW_BLOCKS / evidence->blocks));
}

static double sum_at(const struct kadapt_evidence *evidence, double effect)
{
	double sum = 0;

	for (uint32_t i = 0; i < evidence->blocks; i++)
		sum += residual(&evidence->block[i], effect);
	return sum;
}

/*
 * The sum falls as the effect rises, so halving finds where it is 0. Few blocks that
 * differ much leave a stretch where it is 0; then the effect is the end nearest to none.
 */
static double found_effect(const struct kadapt_evidence *evidence)
{
	int sign = sum_at(evidence, 0) < 0 ? -1 : 1;
	double low = 0, high = WIDEST;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (sign * sum_at(evidence, sign * middle) > 0)
			low = middle;
		else
			high = middle;
	}
	return sign * high;
}

static int is_power_of_two(uint32_t value)
{
	return (value & (value - 1)) == 0;
}

/* The spread is taken anew at 4, 8, 16 ... blocks, so that it costs little. */
static void renew_bound(struct kadapt_evidence *evidence)
{
	float sizes[KADAPT_BLOCKS];
	float bound;

	if (evidence->blocks < 4 || !is_power_of_two(evidence->blocks))
		return;
	for (uint32_t i = 0; i < evidence->blocks; i++)
		sizes[i] = (float)kadapt_size(evidence->block[i].difference - evidence->effect);
	bound = (float)(BOUND_FACTOR * kadapt_median(sizes, evidence->blocks));
	evidence->bound = bound > (float)LEAST_BOUND ? bound : (float)LEAST_BOUND;
}

void kadapt_evidence_begin(struct kadapt_evidence *evidence, double spread)
{
	double bound = BOUND_FACTOR * spread;

	evidence->blocks = 0;
	evidence->effect = 0;
	evidence->bound = (float)(bound > LEAST_BOUND ? bound : LEAST_BOUND);
	for (int i = 0; i < KADAPT_BETS; i++)
		evidence->helps[i] = evidence->hurts[i] = 1;
}

static void settle_bets(struct kadapt_evidence *evidence, const struct kadapt_block *block)
{
	double won = residual(block, 0) / block->bound;

	for (int i = 0; i < KADAPT_BETS; i++) {
		evidence->helps[i] *= 1 - bets[i] * won;
		evidence->hurts[i] *= 1 + bets[i] * won;
	}
}

void kadapt_evidence_add(struct kadapt_evidence *evidence, double difference)
{
	struct kadapt_block *block = &evidence->block[evidence->blocks++];

	block->difference = (float)difference;
	block->bound = evidence->bound;
	settle_bets(evidence, block);
	evidence->effect = found_effect(evidence);
	renew_bound(evidence);
}

static double squares_at(const struct kadapt_evidence *evidence, double effect)
{
	double squares = 0;

	for (uint32_t i = 0; i < evidence->blocks; i++) {
		double part = residual(&evidence->block[i], effect);

		squares += part * part;
	}
	return squares;
}

/*
 * The standard error of an M-estimate: the root of the residuals' squares over the number
 * of residuals within their bounds (Huber 1981, Robust Statistics, section 6.6).
 */
double kadapt_evidence_error(const struct kadapt_evidence *evidence)
{
	double effect = evidence->effect;
	uint32_t within = 0;

	if (evidence->blocks < 2)
		return INFINITY;
	for (uint32_t i = 0; i < evidence->blocks; i++)
		within +=
		    kadapt_size(evidence->block[i].difference - effect) < evidence->block[i].bound;
	if (!within)
		within = 1;
	return kadapt_root(squares_at(evidence, effect) * evidence->blocks /
			   (evidence->blocks - 1)) /
	       within;
}

static int is_enough(const double capitals[KADAPT_BETS], double error)
{
	double sum = 0;

	for (int i = 0; i < KADAPT_BETS; i++)
		sum += capitals[i];
	return sum / KADAPT_BETS >= 1 / error;
}

int kadapt_evidence_helps(const struct kadapt_evidence *evidence, double error)
{
	return is_enough(evidence->helps, error);
}

int kadapt_evidence_hurts(const struct kadapt_evidence *evidence, double error)
{
	return is_enough(evidence->hurts, error);
}

/*
 * The square of the score's quantile, from Student's t with `blocks` - 1 degrees of
 * freedom: a score of S over the root of V has t^2 = (n - 1) S^2 / (n V - S^2).
 */
static double quantile_squared(uint32_t blocks)
{
	double student = WIDER * kadapt_student(blocks - 1);

	return blocks * student * student / (blocks - 1 + student * student);
}

static int is_excluded(const struct kadapt_evidence *evidence, double effect, double quantile)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < evidence->blocks; i++) {
		double part = wide_residual(evidence, i, effect);

		sum += part;
		squares += part * part;
	}
	return sum * sum > quantile * squares;
}

/* The end of the interval between the effect, which is inside, and `outside`. */
static double end_towards(const struct kadapt_evidence *evidence, double inside, double outside,
			  double quantile)
{
	if (!is_excluded(evidence, outside, quantile))
		return outside < inside ? -INFINITY : INFINITY;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (inside + outside) / 2;

		if (is_excluded(evidence, middle, quantile))
			outside = middle;
		else
			inside = middle;
	}
	return outside;
}

struct kadapt_interval kadapt_evidence_interval(const struct kadapt_evidence *evidence)
{
	struct kadapt_interval found = {-INFINITY, INFINITY};
	double effect = evidence->effect, quantile;

	if (evidence->blocks < 2)
		return found;
	quantile = quantile_squared(evidence->blocks);
	found.low = end_towards(evidence, effect, effect - WIDEST, quantile);
	found.high = end_towards(evidence, effect, effect + WIDEST, quantile);
	return found;
}
