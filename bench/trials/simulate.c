// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the trials of libkadapt on simulated visits, whose true effect is planted.
 *
 *	simulate RUNS VISITS EFFECT NOISE DRIFT AUTOCORRELATION TAIL CARRY WASHOUT WORK
 *
 * EFFECT, NOISE and the rest are shares of a visit: 0.03 is 3 %. TAIL is the probability
 * of a disturbed visit, which takes up to ten times as long. CARRY is the part of the
 * level before that still acts in the first visit after a change. WORK is the spread of
 * the work of visits. Prints one line of JSON with what the runs found.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/numbers.h"
#include "decide/trial.h"

struct world {
	double effect, noise, drift, autocorrelation, tail, carry, work;
	int visits, washout;
};

struct found {
	long claims_helps, claims_hurts, dropped, covered, known, over_budget, late, unlike;
	double blocks, regret, worst, against_plain, until;
};

static double uniform(uint64_t *random)
{
	return (double)(kadapt_random(random) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *random)
{
	return sqrt(-2 * log(1 - uniform(random))) * cos(6.283185307179586 * uniform(random));
}

struct state {
	uint64_t random;
	double wander; /* autocorrelated part of the noise */
	double before; /* 1 if the visit before was at the level */
};

/* The logarithm of a visit's time for one unit of work, without the level's effect. */
static double luck(const struct world *world, struct state *state, int visit)
{
	double phi = world->autocorrelation;
	double slow = world->drift * sin(6.283185307179586 * visit / 150.0) +
		      world->drift * visit / world->visits;

	state->wander =
	    phi * state->wander + sqrt(1 - phi * phi) * world->noise * normal(&state->random);
	if (uniform(&state->random) < world->tail)
		slow += log(1 + 9 * uniform(&state->random));
	return slow + state->wander;
}

static void prepare(struct kadapt_trial *trial, const struct world *world, uint64_t seed)
{
	trial->policies = 1;
	trial->arms = 1;
	trial->washout = (uint8_t)world->washout;
	trial->planned = (uint32_t)world->visits;
	trial->most_together = 1;
	trial->slot_ns = 0;
	trial->least_ns = 0;
	trial->prior[0] = 1;
	trial->error = 0.05;
	trial->random = seed;
	trial->arm[0].policy = 0;
	trial->arm[0].level = 1;
	trial->arm[0].is_learned = 0;
	kadapt_trial_begin(trial);
}

static void run(const struct world *world, uint64_t seed, struct found *found)
{
	static struct kadapt_trial trial;
	struct kadapt_budget budget = {.share = 0.01};
	struct state state = {.random = seed * 77 + 5};
	double time = 0, best = 0, plain = 0, blocks_loss = 0;
	int left_at = -1, level_visits = 0;
	struct kadapt_interval interval;

	prepare(&trial, world, seed);
	for (int visit = 0; visit < world->visits; visit++) {
		uint8_t levels[KADAPT_TRIAL_POLICIES] = {0};
		double work = exp(world->work * normal(&state.random));
		double base, acting, took;

		kadapt_trial_levels(&trial, &budget, levels);
		acting = levels[0] + world->carry * (state.before - levels[0]);
		state.before = levels[0];
		base = work * exp(luck(world, &state, visit));
		took = base * exp(world->effect * acting);
		if (trial.in_block && levels[0] * world->effect > 0)
			blocks_loss += took - base;
		if (trial.in_block && (1 - levels[0]) * world->effect < 0)
			blocks_loss += took - base * exp(world->effect);
		if (levels[0] && left_at < 0)
			level_visits++;
		time += took;
		budget.elapsed_ns = time * 1e6;
		plain += base;
		best += world->effect < 0 ? base * exp(world->effect) : base;
		kadapt_trial_visited(
		    &trial, &budget,
		    &(struct kadapt_visit){{took * 1e6, took * 1e6}, {1, work, 0}, 1, 0});
		if (left_at < 0 && (trial.arm[0].state == KADAPT_ARM_DROPPED ||
				    trial.arm[0].state == KADAPT_ARM_HURTS))
			left_at = level_visits;
	}
	found->claims_helps += trial.arm[0].state == KADAPT_ARM_HELPS;
	found->claims_hurts += trial.arm[0].state == KADAPT_ARM_HURTS;
	found->dropped += trial.arm[0].state == KADAPT_ARM_DROPPED;
	found->unlike += trial.state == KADAPT_TRIAL_UNLIKE;
	found->late += left_at < 0 || left_at > 10;
	found->until += left_at < 0 ? world->visits : left_at;
	found->blocks += trial.arm[0].evidence.blocks;
	interval = kadapt_evidence_interval(&trial.arm[0].evidence);
	found->known += trial.arm[0].evidence.blocks >= 2;
	found->covered += trial.arm[0].evidence.blocks >= 2 && interval.low <= world->effect &&
			  world->effect <= interval.high;
	found->regret += blocks_loss / time;
	found->over_budget += blocks_loss / time > 0.01;
	found->worst = fmax(found->worst, blocks_loss / time);
	found->against_plain += time / plain;
}

int main(int count, char **words)
{
	struct world world;
	struct found found = {0};
	long runs;

	if (count != 11) {
		fputs("simulate RUNS VISITS EFFECT NOISE DRIFT AUTOCORRELATION TAIL CARRY WASHOUT "
		      "WORK\n",
		      stderr);
		return 2;
	}
	runs = strtol(words[1], NULL, 10);
	world = (struct world){
	    .visits = (int)strtol(words[2], NULL, 10),
	    .effect = strtod(words[3], NULL),
	    .noise = strtod(words[4], NULL),
	    .drift = strtod(words[5], NULL),
	    .autocorrelation = strtod(words[6], NULL),
	    .tail = strtod(words[7], NULL),
	    .carry = strtod(words[8], NULL),
	    .washout = (int)strtol(words[9], NULL, 10),
	    .work = strtod(words[10], NULL),
	};
	for (long i = 0; i < runs; i++)
		run(&world, (uint64_t)i + 1, &found);
	printf("{\"helps\": %.4f, \"hurts\": %.4f, \"dropped\": %.4f, \"covered\": %.4f, "
	       "\"blocks\": %.1f, \"regret\": %.5f, \"over\": %.4f, \"worst\": %.4f, "
	       "\"late\": %.4f, \"until\": %.1f, \"plain\": %.4f, \"unlike\": %.4f}\n",
	       (double)found.claims_helps / runs, (double)found.claims_hurts / runs,
	       (double)found.dropped / runs,
	       (double)found.covered / (found.known ? found.known : 1), found.blocks / runs,
	       found.regret / runs, (double)found.over_budget / runs, found.worst,
	       (double)found.late / runs, found.until / runs, found.against_plain / runs,
	       (double)found.unlike / runs);
	return 0;
}
