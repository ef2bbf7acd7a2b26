// SPDX-License-Identifier: MIT
#include "decide/numbers.h"
#include "decide/warm_up.h"

/* Visits that differ by more than this (median, of logarithms) show no effect of 10 %. */
#define MOST_SPREAD 0.25
/* Processor time is used if wall time is noisy and processor time that much steadier. */
#define NOISY_SPREAD 0.05
#define STEADIER 0.5
/* Visits of a run in which several visits are paired: all its warm-ups take 8 % of them. */
#define MANY_PAIRS (2 * KADAPT_MANY_VISITS)
/* Visits of a slot or a stretch. */
#define MOST_MEASURED UINT8_MAX

static double median_difference(struct kadapt_trial *trial, int clock, int measure)
{
	return kadapt_median(trial->differences[clock][measure], KADAPT_WARM_UP - 1);
}

/* The measure with which successive visits differ least; visits alone always count. */
static uint8_t best_measure(struct kadapt_trial *trial, int clock)
{
	uint8_t best = KADAPT_MEASURE_VISITS;

	for (uint8_t i = 0; i < KADAPT_MEASURES; i++)
		if (!trial->is_out[i] &&
		    median_difference(trial, clock, i) < median_difference(trial, clock, best))
			best = i;
	return best;
}

/* Wall time is what users wait for, so processor time must be much steadier. */
static void choose_clock(struct kadapt_trial *trial)
{
	uint8_t wall = best_measure(trial, KADAPT_CLOCK_WALL);
	uint8_t task = best_measure(trial, KADAPT_CLOCK_TASK);
	double wall_spread = median_difference(trial, KADAPT_CLOCK_WALL, wall);
	double task_spread = median_difference(trial, KADAPT_CLOCK_TASK, task);
	int is_task = !trial->needs_wall && wall_spread > NOISY_SPREAD &&
		      task_spread < STEADIER * wall_spread;

	trial->clock = is_task ? KADAPT_CLOCK_TASK : KADAPT_CLOCK_WALL;
	trial->measure = is_task ? task : wall;
	trial->spread = is_task ? task_spread : wall_spread;
}

static uint8_t visits_to_measure(const struct kadapt_trial *trial)
{
	double visits = trial->slot_ns / trial->mean_ns + 1;

	return visits < MOST_MEASURED ? (uint8_t)visits : MOST_MEASURED;
}

void kadapt_trial_begin_warm_up(struct kadapt_trial *trial, unsigned int together)
{
	trial->state = KADAPT_TRIAL_WARM_UP;
	trial->together = (uint16_t)together;
	trial->begins_plain = trial->planned / together >= KADAPT_MANY_VISITS;
	trial->visits = 0;
	trial->mean_ns = 0;
	trial->stretches = 0;
	trial->stretch = (struct kadapt_visit){0};
	for (unsigned int i = 0; i < KADAPT_MEASURES; i++)
		trial->is_out[i] = 0;
}

/* Visits that are too short for the clock are long enough together. */
static int is_taken_together(struct kadapt_trial *trial)
{
	double mean_ns = trial->stretch.time_ns[KADAPT_CLOCK_WALL] * trial->together /
			 trial->stretch.work[KADAPT_MEASURE_VISITS];
	double together = trial->together * (trial->least_ns / mean_ns + 1);

	if (mean_ns >= trial->least_ns || trial->together == trial->most_together)
		return 0;
	kadapt_trial_begin_warm_up(trial, together < trial->most_together ? (unsigned int)together
									  : trial->most_together);
	return 1;
}

/* Visits that differ much may be alike in pairs: a long one and a short one in turn. */
static int is_paired(struct kadapt_trial *trial)
{
	unsigned int together = 2U * trial->together;

	if (trial->spread <= MOST_SPREAD || together > trial->most_together ||
	    trial->planned / together < MANY_PAIRS)
		return 0;
	kadapt_trial_begin_warm_up(trial, together);
	return 1;
}

static void end_warm_up(struct kadapt_trial *trial)
{
	choose_clock(trial);
	if (is_paired(trial))
		return;
	trial->measured = visits_to_measure(trial);
	trial->state = trial->mean_ns < trial->least_ns ? KADAPT_TRIAL_SHORT
		       : trial->spread > MOST_SPREAD	? KADAPT_TRIAL_UNLIKE
							: KADAPT_TRIAL_GOING;
	for (unsigned int i = 0; i < trial->arms; i++)
		kadapt_evidence_begin(&trial->arm[i].evidence, trial->spread);
}

static void note(struct kadapt_trial *trial, int clock, int measure)
{
	const struct kadapt_visit *stretch = &trial->stretch;
	double *last = &trial->last[clock][measure];
	double now =
	    kadapt_logarithm(kadapt_larger(stretch->time_ns[clock], 1) / stretch->work[measure]);

	if (trial->stretches)
		trial->differences[clock][measure][trial->stretches - 1] =
		    (float)kadapt_size(now - *last);
	*last = now;
}

static void end_stretch(struct kadapt_trial *trial)
{
	if (is_taken_together(trial))
		return;
	for (int measure = 0; measure < KADAPT_MEASURES; measure++) {
		trial->is_out[measure] |= trial->stretch.work[measure] <= 0;
		for (int clock = 0; clock < KADAPT_CLOCKS && !trial->is_out[measure]; clock++)
			note(trial, clock, measure);
	}
	trial->stretch = (struct kadapt_visit){0};
	if (++trial->stretches == KADAPT_WARM_UP)
		end_warm_up(trial);
}

/* A stretch is as long as a slot's measured visits will be, so it is as noisy. */
void kadapt_trial_warm_up(struct kadapt_trial *trial, const struct kadapt_visit *visit)
{
	struct kadapt_visit *stretch = &trial->stretch;

	for (int clock = 0; clock < KADAPT_CLOCKS; clock++)
		stretch->time_ns[clock] += visit->time_ns[clock];
	for (int measure = 0; measure < KADAPT_MEASURES; measure++)
		stretch->work[measure] += visit->work[measure];
	if (stretch->time_ns[KADAPT_CLOCK_WALL] >= trial->slot_ns ||
	    stretch->work[KADAPT_MEASURE_VISITS] >= MOST_MEASURED * trial->together)
		end_stretch(trial);
}
