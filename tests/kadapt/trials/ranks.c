// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *	ranks visits SEED NOISE VISITS	one of two ranks that wait for one another
 *	ranks tasks LIST NODE		the tasks of a node in Slurm's list
 *	ranks job			local ranks, nodes and the job's number, as launchers say
 *
 * In each visit a rank writes a byte to its standard output's other end and reads one from
 * its standard input. Its clock is its own, as is its luck: each visit is up to NOISE
 * longer. Prints the level of each visit as a digit to its standard error.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "decide/numbers.h"
#include "ranks/job.h"
#include "own_clock.h"

#define EFFECT (-0.1)
#define MOST_VISITS 100000

const struct planted_plan planted __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI,
	     .policies = 2,
	     .flags = KADAPT_PLAN_IO | KADAPT_PLAN_TRIALS,
	     .id = 0x0123456789abcdef},
    .policy = {{.phase = 0, .tried = KADAPT_TRY_BATCHES, .visits = 400}, {.phase = 1}},
};

static uint64_t luck;
static char levels[MOST_VISITS + 1];

static double noise(double most)
{
	return most * (double)(kadapt_random(&luck) >> 11) / 9007199254740992.0;
}

/* Returns whether the other rank is still there. */
static int wait_for_other(void)
{
	char byte = 0;

	return write(STDOUT_FILENO, &byte, 1) == 1 && read(STDIN_FILENO, &byte, 1) == 1;
}

static int visit(long number, double most)
{
	unsigned int level;

	kadapt_phase_enter(0);
	level = kadapt_level(KADAPT_TRIED_BATCHES);
	levels[number] = (char)('0' + level);
	kadapt_batches_written++;
	clock_now += VISIT_NS * exp(noise(most) + (level ? EFFECT : 0));
	kadapt_phase_enter(1);
	clock_now += VISIT_NS / 10;
	return wait_for_other();
}

/* Destructors of the program may be adapted code, too. */
__attribute__((destructor(101))) static void end(void)
{
	for (int i = 0; i < 100; i++) {
		kadapt_phase_enter(0);
		clock_now += VISIT_NS;
		kadapt_phase_enter(1);
	}
}

static int print_job(void)
{
	struct kadapt_job job = kadapt_job_read();

	return printf("%u %u %016lx\n", job.local_ranks, job.nodes, (unsigned long)job.here) < 0;
}

int main(int count, char **words)
{
	long visits;

	if (count == 2 && !strcmp(words[1], "job"))
		return print_job();

	if (count == 4 && !strcmp(words[1], "tasks"))
		return printf("%u\n", kadapt_tasks_of_node(words[2], (uint32_t)atoi(words[3]))) < 0;
	if (count != 5)
		return 2;
	luck = strtoul(words[2], NULL, 10);
	visits = strtol(words[4], NULL, 10);
	for (long i = 0; i < visits && visit(i, strtod(words[3], NULL)); i++)
		;
	fputs(levels, stderr);
	return 0;
}
