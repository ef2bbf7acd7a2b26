// SPDX-License-Identifier: GPL-2.0-or-later
/* Rounds of one operation, and the line that reports them. */
#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "mark.h"

static int run(const struct operation *operation, double overhead, double *cost)
{
	double start, end;
	int error;

	if (operation->sample)
		return operation->sample(operation->argument, cost);
	start = now();
	error = operation->run(operation->argument, operation->batch);
	end = now();
	*cost = (end - start - overhead) / operation->batch;
	return error;
}

/*
 * Does one round, and computes the cost of one operation. Section 2 of the lab's plugins is what
 * the operations do, without their preparation.
 */
static int one_round(const struct operation *operation, double overhead, double *cost)
{
	int error = operation->rewind ? operation->rewind(operation->argument) : 0;

	if (error)
		return error;
	KADENCE_MARK("2");
	error = run(operation, overhead, cost);
	KADENCE_MARK("0");
	if (!error && operation->verify)
		error = operation->verify(operation->argument, operation->batch);
	return error;
}

static int all_rounds(const struct operation *operation, int rounds, double *costs)
{
	double overhead = clock_cost();
	int error = 0;

	if (!operation->sample)
		error = one_round(operation, overhead, &costs[0]);
	for (int i = 0; !error && i < rounds; i++)
		error = one_round(operation, overhead, &costs[i]);
	return error;
}

static void report_error(const struct operation *operation, int error)
{
	printf("{\"operation\": \"%s\", \"unit\": \"%s\", \"error\": \"%s\", \"errno\": %d}\n",
	       operation->name, operation->unit, strerrorname_np(-error), -error);
}

static void report(const struct operation *operation, double *costs, int rounds)
{
	double middle = median(costs, rounds);

	printf("{\"operation\": \"%s\", \"unit\": \"%s\", \"median\": %.2f, \"low\": %.2f, "
	       "\"high\": %.2f, \"rounds\": %d, \"batch\": %ld, \"crossings\": %d}\n",
	       operation->name, operation->unit, middle, costs[0], costs[rounds - 1], rounds,
	       operation->batch, operation->crossings);
}

void measure(const struct operation *operation)
{
	double costs[MOST_ROUNDS];
	int rounds = operation->rounds ? operation->rounds : setting.rounds;
	int error;

	error = operation->prepare ? operation->prepare(operation->argument) : 0;
	if (!error)
		error = all_rounds(operation, rounds, costs);
	if (operation->finish)
		operation->finish();
	if (error)
		report_error(operation, error);
	else
		report(operation, costs, rounds);
	fflush(stdout);
}
