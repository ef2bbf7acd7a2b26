// SPDX-License-Identifier: GPL-2.0-or-later
/* Which slice a thread has, and when, as sched_getattr(2) reports it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "slice_after_exec.h"

#define LONG_SLICE (5 * NS_PER_S)

/* Phase 0 has a long quantum, phase 1 the thread's own slice, phase 2 a quantum of 1 ms. */
static int phases(void)
{
	int device = open_device();

	if (define(device, 0, quantum_up_to(LONG_SLICE)) || define(device, 1, 0) ||
	    define(device, 2, quantum_up_to(NS_PER_MS)))
		return -1;
	return device;
}

static long times_switched(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return used.ru_nvcsw;
}

/*
 * Returns the slice of the calling thread in its phase. The driver grants the quantum
 * when the scheduler switches to the thread. Between two requests without a switch the
 * slice may be the default. So the thread sleeps until it has been switched. If the
 * host runs other programs for as long as a sleep lasts, the sleep ends at once,
 * without a switch.
 */
static uint64_t granted_slice(void)
{
	long before = times_switched();

	do
		sleep_for(NS_PER_MS);
	while (times_switched() == before);
	return slice_of(0);
}

static enum outcome test_set_and_restored(void)
{
	uint64_t before = slice_of(0);
	uint64_t wanted = quantum_up_to(LONG_SLICE);
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(device >= 0);
	CHECK(enter(device, 0) == 0);
	CHECK(granted_slice() == wanted);
	CHECK(enter(device, 2) == 0);
	CHECK(granted_slice() == NS_PER_MS);
	CHECK(enter(device, 1) == 0);
	CHECK(slice_of(0) == before);
	CHECK(enter(device, 0) == 0);
	CHECK(granted_slice() == wanted);
	CHECK(leave(device) == 0);
	CHECK(slice_of(0) == before);
	CHECK(enter(device, 0) == 0);
	CHECK(close(device) == 0);
	CHECK(slice_of(0) == before);
	note("default slice %llu ns, longest quantum %llu ns", (unsigned long long)before,
	     (unsigned long long)wanted);
	return PASSED;
}

static enum outcome test_duplicate(void)
{
	uint64_t before = slice_of(0);
	int device = phases();
	int duplicate;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	duplicate = dup(device);
	CHECK(enter(device, 0) == 0);
	CHECK(close(duplicate) == 0);
	CHECK(slice_of(0) == before);
	CHECK(enter(device, 0) == 0);
	CHECK(granted_slice() == quantum_up_to(LONG_SLICE));
	return PASSED;
}

static int slice_in_ms(void *unused)
{
	(void)unused;
	return (int)(granted_slice() / NS_PER_MS);
}

/* Does not sleep first: this is the slice with which the child started. */
static int slice_in_100_us(void *unused)
{
	(void)unused;
	return (int)(slice_of(0) / (100 * NS_PER_US) % 256);
}

static enum outcome test_forked_child(void)
{
	uint64_t before = slice_of(0);
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(enter(device, 0) == 0);
	for (int i = 0; i < 20; i++)
		CHECK(in_child(slice_in_100_us, NULL) == (int)(before / (100 * NS_PER_US)));
	CHECK(granted_slice() == quantum_up_to(LONG_SLICE));
	return PASSED;
}

struct pair {
	int device;
	uint64_t born_with;
	uint64_t while_other_leaves;
	sem_t ready, go;
};

static void *second_thread(void *argument)
{
	struct pair *pair = argument;

	pair->born_with = slice_of(0);
	enter(pair->device, 0);
	sem_post(&pair->ready);
	sem_wait(&pair->go);
	pair->while_other_leaves = granted_slice();
	return NULL;
}

static enum outcome test_threads(void)
{
	uint64_t before = slice_of(0);
	struct pair pair = {.device = phases()};
	pthread_t thread;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	sem_init(&pair.ready, 0, 0);
	sem_init(&pair.go, 0, 0);
	CHECK(enter(pair.device, 0) == 0);
	CHECK(pthread_create(&thread, NULL, second_thread, &pair) == 0);
	sem_wait(&pair.ready);
	CHECK(pair.born_with == before);
	CHECK(leave(pair.device) == 0);
	CHECK(slice_of(0) == before);
	sem_post(&pair.go);
	pthread_join(thread, NULL);
	CHECK(pair.while_other_leaves == quantum_up_to(LONG_SLICE));
	return PASSED;
}

static enum outcome test_closed_by_another(void)
{
	uint64_t before = slice_of(0);
	struct pair pair = {.device = phases()};
	pthread_t thread;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	sem_init(&pair.ready, 0, 0);
	sem_init(&pair.go, 0, 0);
	CHECK(pthread_create(&thread, NULL, second_thread, &pair) == 0);
	sem_wait(&pair.ready);
	CHECK(close(pair.device) == 0);
	sem_post(&pair.go);
	pthread_join(thread, NULL);
	CHECK(pair.while_other_leaves == before);
	return PASSED;
}

/* A child that closes its inherited descriptor does not end its parent's phase. */
static int close_inherited(void *argument)
{
	return close(*(int *)argument);
}

static enum outcome test_closed_by_child(void)
{
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(enter(device, 0) == 0);
	CHECK(in_child(close_inherited, &device) == 0);
	CHECK(granted_slice() == quantum_up_to(LONG_SLICE));
	return PASSED;
}

/* The owner ends while a child still holds the open file. */
static int outlived(void *argument)
{
	int *tell = argument;
	int device = phases();
	char byte;

	if (enter(device, 0))
		return FAILED;
	if (fork())
		return PASSED;
	/* Hold the file until the test has seen the owner end. */
	_exit(read(tell[0], &byte, 1) == 1 ? PASSED : FAILED);
}

static enum outcome test_file_outlives_owner(void)
{
	int pipe_ends[2];

	CHECK(pipe(pipe_ends) == 0);
	CHECK(in_child(outlived, pipe_ends) == PASSED);
	CHECK(write(pipe_ends[1], "x", 1) == 1);
	return PASSED;
}

static enum outcome test_own_slice_returns(void)
{
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(set_slice(20 * NS_PER_MS) == 0);
	CHECK(enter(device, 0) == 0);
	CHECK(leave(device) == 0);
	CHECK(slice_of(0) == 20 * NS_PER_MS);
	return PASSED;
}

static enum outcome test_newer_wish_stays(void)
{
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(enter(device, 0) == 0);
	CHECK(set_slice(30 * NS_PER_MS) == 0);
	CHECK(leave(device) == 0);
	CHECK(slice_of(0) == 30 * NS_PER_MS);
	/* The same if another phase follows. */
	CHECK(enter(device, 0) == 0);
	CHECK(set_slice(40 * NS_PER_MS) == 0);
	CHECK(enter(device, 2) == 0);
	CHECK(granted_slice() == NS_PER_MS);
	CHECK(leave(device) == 0);
	CHECK(slice_of(0) == 40 * NS_PER_MS);
	return PASSED;
}

static enum outcome test_policy_change(void)
{
	struct sched_param none = {0};
	uint64_t before = slice_of(0);
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(enter(device, 0) == 0);
	/* Here the kernel sets the slice again, within its limits. */
	CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
	CHECK(leave(device) == 0);
	CHECK(slice_of(0) == before);
	return PASSED;
}

static enum outcome test_fifo_meanwhile(void)
{
	struct sched_param none = {0}, fifo = {.sched_priority = 1};
	uint64_t before = slice_of(0);
	int device = phases();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(enter(device, 0) == 0);
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return skip("not allowed to become SCHED_FIFO");
	CHECK(leave(device) == 0);
	CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
	CHECK(slice_of(0) == before);
	return PASSED;
}

int slice_after_exec(void)
{
	return slice_in_ms(NULL);
}

static int exec_in_phase(void *argument)
{
	int device = phases();

	if (!argument)
		fcntl(device, F_SETFD, 0);
	enter(device, 0);
	execl("/proc/self/exe", "kadapt-selftest", SLICE_AFTER_EXEC, NULL);
	return -1;
}

static enum outcome test_exec(void)
{
	int before = slice_in_ms(NULL);
	bool close_on_exec = true;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(in_child(exec_in_phase, &close_on_exec) == before);
	CHECK(in_child(exec_in_phase, NULL) != before);
	return PASSED;
}

const struct test_case slice_cases[] = {
    {"slice_set", "phases set the slice, leaving and closing restore it", test_set_and_restored},
    {"slice_duplicate", "closing any descriptor leaves the phase", test_duplicate},
    {"slice_child", "a forked child starts with the default slice", test_forked_child},
    {"slice_threads", "a thread's phase is its own, and not inherited", test_threads},
    {"slice_closed_by_another", "a close by another thread restores", test_closed_by_another},
    {"slice_closed_by_child", "a close by a child does not", test_closed_by_child},
    {"slice_outlived", "the owner dies, a child holds the file", test_file_outlives_owner},
    {"slice_own_returns", "a slice of one's own comes back", test_own_slice_returns},
    {"slice_newer_stays", "a slice set during the phase stays", test_newer_wish_stays},
    {"slice_policy_change", "SCHED_BATCH in between leaves nothing behind", test_policy_change},
    {"slice_fifo_meanwhile", "SCHED_FIFO in between leaves nothing behind", test_fifo_meanwhile},
    {"slice_exec", "exec keeps the phase unless O_CLOEXEC", test_exec},
    {0},
};
