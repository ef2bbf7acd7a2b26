/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes whose threads do their worst for a while, and that end in the midst of it: by SIGKILL,
 * by closing the device first, or by exit. What is asked is that they do end, and that the kernel
 * complains of nothing.
 */
#ifndef BATTLE_H
#define BATTLE_H

#include <stdint.h>

#include "harness.h"

#define BATTLE_THREADS 4
#define BATTLE_TOTALS 4

struct battle {
	/* Sets up what the threads use; the device's descriptor, or -1. */
	int (*begin)(uint64_t seed);
	/* What each thread does again and again, with dice of its own. */
	void (*threads[BATTLE_THREADS])(uint64_t *thrown);
	/* What is counted, and must not stay 0. */
	const char *totals[BATTLE_TOTALS];
};

/* As many rounds as the command line says. */
enum outcome battle_fight(const struct battle *battle);

/* For the threads. */
/* One more of the battle's totals, which are counted over all rounds. */
void battle_count(int total);
/* Something is not as it must be: the case fails. */
void battle_lost(const char *what);
/* Run in a child, and wait for it. */
void battle_fork(void (*in_child)(void));

#endif
