// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads FOLDER: two threads write small records. In phase 0 each thread writes to its own file.
 * In phase 1 they write to a shared file in turns, and the thread that waits for its turn spins.
 * Built with ADAPTED, the program must leave the same files as built plain.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ADAPTED
#include "libkadapt.h"

#define NS_PER_S UINT64_C(1000000000)

/* A long quantum where each thread has its own file, the default one where they take turns. */
const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 2,
    .flags = KADAPT_PLAN_IO,
    .policy = {{.phase = 0, .quantum_ns = 5 * NS_PER_S}, {.phase = 1}},
};
#define write kadapt_write
#else
static void kadapt_phase_enter(uint32_t phase)
{
	(void)phase;
}
#endif

#define ROUNDS 20
#define RECORDS 500
#define TURNS 50
#define RECORD_BYTES 24

static _Atomic int turn;
static int shared;

static void put(int file, int thread, int number)
{
	char record[RECORD_BYTES + 1];

	snprintf(record, sizeof(record), "%d %21d\n", thread, number);
	if (write(file, record, RECORD_BYTES) != RECORD_BYTES)
		exit(EXIT_FAILURE);
}

static void in_turns(int thread, int round)
{
	for (int next = round * TURNS + thread; next < (round + 1) * TURNS; next += 2) {
		while (atomic_load(&turn) != next)
			;
		put(shared, thread, next);
		atomic_store(&turn, next + 1);
	}
}

static int open_in(const char *folder, const char *name)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (file < 0)
		exit(EXIT_FAILURE);
	return file;
}

static const char *folder;

static void *work(void *argument)
{
	int thread = (int)(intptr_t)argument;
	int own = open_in(folder, thread ? "second" : "first");

	for (int round = 0; round < ROUNDS; round++) {
		kadapt_phase_enter(0);
		for (int i = 0; i < RECORDS; i++)
			put(own, thread, round * RECORDS + i);
		kadapt_phase_enter(1);
		in_turns(thread, round);
	}
	close(own);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t other;

	if (count != 2)
		return EXIT_FAILURE;
	folder = arguments[1];
	shared = open_in(folder, "shared");
	if (pthread_create(&other, NULL, work, (void *)1))
		return EXIT_FAILURE;
	work((void *)0);
	pthread_join(other, NULL);
	close(shared);
	return EXIT_SUCCESS;
}
