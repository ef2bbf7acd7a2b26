// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * handshake: two threads take turns 20,000 times. Each spins on shared memory until the other's
 * turn is over. The threads make no system calls meanwhile: the clock and sched_getcpu() read
 * memory. On one processor, every turn would wait until the scheduler preempts the thread that
 * spins.
 *
 * Prints four numbers: the turns, those on another processor than the turn before, those in which
 * the clock went backwards from one thread to the other, and the threads' involuntary switches.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define TURNS 20000

static _Atomic int turn;
/* The thread whose turn it is writes these, and the thread with the next turn reads them. */
static int64_t stamp;
static int processor = -1;
static long apart, backwards;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void take_turn(void)
{
	int64_t now = now_ns();
	int here = sched_getcpu();

	backwards += now < stamp;
	apart += processor >= 0 && here != processor;
	stamp = now;
	processor = here;
}

static void *spin(void *argument)
{
	int own = (int)(intptr_t)argument;

	for (int next = own; next < TURNS; next += 2) {
		while (atomic_load(&turn) != next)
			;
		take_turn();
		atomic_store(&turn, next + 1);
	}
	return NULL;
}

int main(void)
{
	struct rusage used;
	pthread_t other;

	if (pthread_create(&other, NULL, spin, (void *)1))
		return EXIT_FAILURE;
	spin((void *)0);
	pthread_join(other, NULL);
	getrusage(RUSAGE_SELF, &used);
	printf("%d %ld %ld %ld\n", TURNS, apart, backwards, used.ru_nivcsw);
	return EXIT_SUCCESS;
}
