// SPDX-License-Identifier: GPL-2.0-or-later
/* Children and threads begin without their creator's slice. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "libkadapt.h"

static int phases_of_child(void *unused)
{
	(void)unused;
	CHECK(slice_of(0) == default_ns);
	kadapt_phase_enter(PLAIN);
	CHECK(seen_slice() == default_ns);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == LONG_NS);
	return PASSED;
}

static enum outcome test_fork(void)
{
	CHECK(in_child(phases_of_child, NULL) == PASSED);
	kadapt_phase_enter(LONG);
	CHECK(in_child(phases_of_child, NULL) == PASSED);
	CHECK(seen_slice() == LONG_NS);
	kadapt_phase_enter(PLAIN);
	CHECK(seen_slice() == default_ns);
	return PASSED;
}

/* Here the kernel itself gives the child the default. */
static enum outcome test_fork_with_reset(void)
{
	const struct sched_param none = {0};

	CHECK(sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0);
	return test_fork();
}

struct born {
	uint32_t phase;
	uint64_t begun_with, in_phase;
	enum outcome later;
};

static enum outcome phases_of_thread(void)
{
	kadapt_phase_enter(PLAIN);
	CHECK(seen_slice() == default_ns);
	kadapt_phase_enter(SHORT);
	CHECK(seen_slice() == SHORT_NS);
	return PASSED;
}

static void *run_thread(void *argument)
{
	struct born *born = argument;

	born->begun_with = slice_of(0);
	kadapt_phase_enter(born->phase);
	born->in_phase = slice_of(0);
	born->later = born->phase == SHORT ? PASSED : phases_of_thread();
	return NULL;
}

static struct born thread_in(uint32_t phase)
{
	struct born born = {.phase = phase, .later = FAILED};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_thread, &born) == 0)
		pthread_join(thread, NULL);
	return born;
}

static enum outcome test_threads(void)
{
	struct born born;

	kadapt_phase_enter(LONG);
	born = thread_in(PLAIN);
	CHECK(born.begun_with == default_ns);
	CHECK(born.in_phase == default_ns && born.later == PASSED);
	born = thread_in(ALSO_LONG);
	CHECK(born.in_phase == LONG_NS && born.later == PASSED);
	CHECK(seen_slice() == LONG_NS);
	return PASSED;
}

static uint64_t
slice_of_spawned(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			      const posix_spawnattr_t *, char *const[], char *const[]))
{
	char *const words[] = {"sleep", "10", NULL};
	uint64_t slice;
	pid_t child;

	if (spawn(&child, "/bin/sleep", NULL, NULL, words, environ))
		return 0;
	slice = slice_of(child);
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) == child ? slice : 0;
}

static enum outcome test_spawned(void)
{
	kadapt_phase_enter(LONG);
	CHECK(slice_of_spawned(posix_spawn) == default_ns);
	CHECK(slice_of_spawned(posix_spawnp) == default_ns);
	CHECK(seen_slice() == LONG_NS);
	return PASSED;
}

/* A thread inherits its creator's own slice, and keeps it. */
static enum outcome test_own_slice_of_creator(void)
{
	struct born born;

	CHECK(set_slice(9 * NS_PER_MS) == 0);
	born = thread_in(SHORT);
	CHECK(born.begun_with == 9 * NS_PER_MS && born.in_phase == 9 * NS_PER_MS);
	return PASSED;
}

const struct test_case child_cases[] = {
    {"fork", "a forked child begins with the default", test_fork},
    {"reset_on_fork", "likewise if the kernel resets it", test_fork_with_reset},
    {"threads", "a thread's phase is its own", test_threads},
    {"spawned", "posix_spawn(3) starts a program with the default", test_spawned},
    {"creator", "a thread keeps what its creator chose", test_own_slice_of_creator},
    {0},
};
