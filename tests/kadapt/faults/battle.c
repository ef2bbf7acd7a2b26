// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "battle.h"
#include "device.h"
#include "faults.h"

#define ROUND_NS (100 * NS_PER_MS)

static _Atomic uint64_t *totals;

/*
 * No process is killed in the middle of a fork: User-Mode Linux 6.12 then panics, even without the
 * device (flush_tlb_mm() meets the mark that the interrupted dup_mmap() leaves).
 */
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;

void battle_count(int total)
{
	atomic_fetch_add(&totals[total], 1);
}

void battle_lost(const char *what)
{
	note("lost: %s", what);
	_exit(FAILED);
}

void battle_fork(void (*in_child)(void))
{
	pid_t pid;

	pthread_mutex_lock(&forking);
	pid = fork();
	pthread_mutex_unlock(&forking);
	if (pid == 0) {
		in_child();
		_exit(PASSED);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

struct fighter {
	void (*act)(uint64_t *thrown);
	uint64_t dice;
};

static void *act_on(void *argument)
{
	struct fighter *fighter = argument;

	for (;;)
		fighter->act(&fighter->dice);
	return NULL;
}

static void start_threads(const struct battle *battle, uint64_t seed)
{
	static struct fighter fighters[BATTLE_THREADS];
	pthread_t thread;

	for (uint64_t i = 0; i < BATTLE_THREADS && battle->threads[i]; i++) {
		fighters[i] = (struct fighter){.act = battle->threads[i], .dice = seed * 31 + i};
		if (pthread_create(&thread, NULL, act_on, &fighters[i]))
			_exit(FAILED);
	}
}

/* While all threads still run. */
static void end(uint64_t seed, int device)
{
	pthread_mutex_lock(&forking);
	switch (seed % 3) {
	case 0:
		kill(getpid(), SIGKILL);
		break;
	case 1:
		close(device);
		sleep_for(NS_PER_MS);
		break;
	}
	_exit(PASSED);
}

static bool fight_once(const struct battle *battle, uint64_t seed)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int device = battle->begin(seed);

		if (device < 0)
			_exit(FAILED);
		start_threads(battle, seed);
		sleep_for(ROUND_NS);
		end(seed, device);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	return status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

enum outcome battle_fight(const struct battle *battle)
{
	alarm(0);
	totals = shared_memory(BATTLE_TOTALS * sizeof(*totals));
	CHECK(totals);
	signal(SIGPIPE, SIG_IGN);
	for (uint64_t i = 0; i < setting.rounds; i++)
		CHECK(fight_once(battle, setting.seed * 1009 + i));
	for (int i = 0; i < BATTLE_TOTALS && battle->totals[i]; i++)
		note("%lu %s", (unsigned long)totals[i], battle->totals[i]);
	for (int i = 0; i < BATTLE_TOTALS && battle->totals[i]; i++)
		CHECK(totals[i]);
	return PASSED;
}
