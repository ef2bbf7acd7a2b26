// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose phase 0 has a policy with a planted effect, on a clock of its own: time
 * passes only where the program says so. The policy is batches, of which the program does
 * nothing but count some.
 *
 *	planted WAY VISITS EFFECT NOISE
 *
 * Visits of the way "turns" take 5 and 15 ms in turn; all others take 10 ms.
 *
 * Prints the level of each visit to phase 0 as a digit, or a point for a visit that a
 * handler left; then a line feed and the time of the run in nanoseconds.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "decide/numbers.h"
#include "own_clock.h"

#ifndef PLANNED_VISITS
#define PLANNED_VISITS 400
#endif
#define MOST_VISITS 100000
#define HANDLERS_US 50

const struct planted_plan planted __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI,
	     .policies = 2,
	     .flags = KADAPT_PLAN_IO | KADAPT_PLAN_TRIALS,
	     .id = 0x0123456789abcdef},
    .policy = {{.phase = 0, .tried = KADAPT_TRY_BATCHES, .visits = PLANNED_VISITS}, {.phase = 1}},
};

static uint64_t luck = 42;
static double turn; /* by how much visits in turn differ from their mean */
static char levels[MOST_VISITS + 1];
static sigjmp_buf next_visit;

static double noise(double size)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(kadapt_random(&luck) >> 11) / 9007199254740992.0;
	return size * (sum - 6);
}

static void visit(int number, double effect, double size)
{
	unsigned int level;

	kadapt_phase_enter(0);
	level = kadapt_level(KADAPT_TRIED_BATCHES);
	levels[number] = (char)('0' + level);
	kadapt_batches_written++;
	clock_now +=
	    VISIT_NS * (number & 1 ? 1 + turn : 1 - turn) * exp(noise(size) + (level ? effect : 0));
	kadapt_phase_enter(1);
	clock_now += VISIT_NS / 10;
}

static void visit_all(int visits, double effect, double size)
{
	for (volatile int i = 0; i < visits; i++)
		if (!sigsetjmp(next_visit, 1))
			visit(i, effect, size);
}

/* ---- ways to disturb it ------------------------------------------------------------ */

static void enter_some_phase(int signal_number)
{
	(void)signal_number;
	kadapt_phase_enter(kadapt_random(&luck) & 1);
}

static void jump_away(int signal_number)
{
	kadapt_phase_enter(1);
	siglongjmp(next_visit, signal_number);
}

static void disturb_by(void (*handler)(int))
{
	const struct itimerval often = {{0, HANDLERS_US}, {0, HANDLERS_US}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static int visit_in_child(int visits, double effect, double size)
{
	pid_t child;
	int status;

	visit_all(visits / 2, effect, size);
	child = fork();
	if (child == 0) {
		visit_all(visits, effect, size);
		return 0;
	}
	waitpid(child, &status, 0);
	exit(WEXITSTATUS(status));
}

static void *visit_in_thread(void *argument)
{
	for (int i = 0; i < 20000; i++)
		kadapt_phase_enter((uint32_t)i & 1);
	return argument;
}

static void begin_threads(pthread_t threads[4])
{
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, visit_in_thread, NULL);
}

static void end_threads(pthread_t threads[4])
{
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* With traps, any inexact result in the library would end the program. */
static void require_rules_kept(int visits, double effect, double size)
{
	const unsigned int rules = 0x1f80 & ~0x1000U; /* traps on inexact results */
	unsigned int now;

	for (int i = 0; i < visits; i++) {
		__asm__ volatile("ldmxcsr %0" : : "m"(rules));
		kadapt_phase_enter(0);
		__asm__ volatile("stmxcsr %0" : "=m"(now));
		fesetenv(FE_DFL_ENV);
		if (now != rules) {
			fputs("the rules of floating point changed\n", stderr);
			exit(1);
		}
		clock_now += VISIT_NS * exp(noise(size) + effect);
		kadapt_phase_enter(1);
	}
}

static void run(const char *way, int visits, double effect, double size)
{
	pthread_t threads[4];

	if (!strcmp(way, "handler"))
		disturb_by(enter_some_phase);
	if (!strcmp(way, "jump"))
		disturb_by(jump_away);
	if (!strcmp(way, "turns"))
		turn = 0.5;
	if (!strcmp(way, "threads"))
		begin_threads(threads);
	if (!strcmp(way, "child"))
		visit_in_child(visits, effect, size);
	else if (!strcmp(way, "rules"))
		require_rules_kept(visits, effect, size);
	else
		visit_all(visits, effect, size);
	if (!strcmp(way, "threads"))
		end_threads(threads);
	if (!strcmp(way, "killed"))
		raise(SIGKILL);
}

int main(int count, char **words)
{
	double begun = clock_now;
	const struct itimerval never = {0};

	if (count != 5)
		return 2;
	memset(levels, '.', (size_t)strtol(words[2], NULL, 10));
	run(words[1], (int)strtol(words[2], NULL, 10), strtod(words[3], NULL),
	    strtod(words[4], NULL));
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%s\n%.0f\n", levels, clock_now - begun);
	return 0;
}
