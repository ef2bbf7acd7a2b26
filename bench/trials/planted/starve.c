// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * starve VISITS: a producer and a helper thread, which alternate on one processor.
 *
 * In each visit the producer asks the helper for a number and sleeps, computes, asks for
 * another number and polls for it, as OpenMP's waiting threads do. After POLL_NS it sleeps. The
 * helper never sleeps. With the kernel's default quantum the helper gets the processor soon. With a
 * quantum of 5 s the producer polls to the end, while the helper starves.
 *
 * Prints a sum, which is the same at any quantum, and on standard error how many visits
 * were at the quantum's level. With -DPLAIN no phase is entered.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "planted/visits.h"

#define COMPUTE_STEPS 5000000
#define POLL_NS 40000000
#define PAUSES 1000

PLAN(KADAPT_TRY_QUANTUM, 5000000000, 0)

static _Atomic uint32_t asked, answered;

static void *help(void *argument)
{
	for (uint32_t done = 0;; done++) {
		while (atomic_load(&asked) == done)
			sched_yield();
		atomic_store(&answered, done + 1);
		syscall(SYS_futex, &answered, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return argument;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void poll_for(uint32_t wanted)
{
	int64_t end = now_ns() + POLL_NS;

	while (atomic_load(&answered) != wanted && now_ns() < end)
		for (int i = 0; i < PAUSES; i++)
			__builtin_ia32_pause();
}

static void sleep_until(uint32_t wanted)
{
	uint32_t seen;

	while ((seen = atomic_load(&answered)) != wanted)
		syscall(SYS_futex, &answered, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

/* The quantum begins when the producer gets the processor, so first it sleeps once. */
static uint64_t visit(uint32_t number)
{
	uint32_t first = 2 * number + 1;
	uint64_t sum;

	atomic_store(&asked, first);
	sleep_until(first);
	sum = compute(number, COMPUTE_STEPS);
	atomic_store(&asked, first + 1);
	poll_for(first + 1);
	sleep_until(first + 1);
	return sum + atomic_load(&answered);
}

int main(int count, char **words)
{
	pthread_t helper;

	if (count != 2 || pthread_create(&helper, NULL, help, NULL))
		return 2;
	make_visits((uint32_t)strtoul(words[1], NULL, 10), KADAPT_TRIED_QUANTUM, visit);
	return 0;
}
