/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes with hostile threads. A process ends while its threads run: by SIGKILL, by closing the
 * device first, or by exit. The process must end, and the kernel must not complain.
 */
#ifndef BATTLE_H
#define BATTLE_H

#include <stdint.h>

#include "harness.h"

#define BATTLE_THREADS 4
#define BATTLE_TOTALS 4

struct battle {
	/* Prepares what the threads use. Returns the device's descriptor, or -1. */
	int (*begin)(uint64_t seed);
	/* Each thread calls this again and again, with random numbers of its own. */
	void (*threads[BATTLE_THREADS])(uint64_t *thrown);
	/* The names of the totals; none may stay 0. */
	const char *totals[BATTLE_TOTALS];
};

/* Runs as many rounds as the command line says. */
enum outcome battle_fight(const struct battle *battle);

/* For the threads. */
/* Adds one to one of the battle's totals, which are sums of all rounds. */
void battle_count(int total);
/* Reports a fault: the case fails. */
void battle_lost(const char *what);
/* Runs the function in a child and waits for the child. */
void battle_fork(void (*in_child)(void));

#endif
