// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs under seccomp(2), whose filters kill for calls about slices. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"
#include "libkadapt.h"

#define ROUNDS 30

static int by_prctl(struct sock_fprog *program)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
}

static int by_raw_prctl(struct sock_fprog *program)
{
	return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
}

static int by_seccomp(struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    program);
}

static int (*const installs[])(struct sock_fprog *) = {by_prctl, by_raw_prctl, by_seccomp};
#define INSTALLS 3

/* The filter kills for sched_setattr(2), sched_getattr(2) and prctl(2). */
static int go_under_filter(int way)
{
	struct sock_filter lines[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setattr, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getattr, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 6, .filter = lines};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return installs[way](&program);
}

/* The status tells the parent that no phase was fatal. */
static int enter_under_filter(void *way)
{
	kadapt_phase_enter(LONG);
	if (go_under_filter(*(int *)way))
		return SKIPPED;
	for (int i = 0; i < 10; i++) {
		kadapt_phase_enter(PLAIN);
		kadapt_phase_enter(LONG);
	}
	kadapt_leave();
	return fork() == 0 ? 0 : PASSED;
}

static enum outcome test_filter(void)
{
	for (int way = 0; way < INSTALLS; way++)
		CHECK(in_child(enter_under_filter, &way) == PASSED);
	return PASSED;
}

/* The thread that installs the filter has the default slice from then on. */

static int wait_under_filter(void *ends)
{
	int way = 1;
	char byte;

	kadapt_phase_enter(LONG);
	if (go_under_filter(way))
		return SKIPPED;
	kadapt_phase_enter(ALSO_LONG);
	return write(((int *)ends)[1], "x", 1) == 1 && read(((int *)ends)[2], &byte, 1) == 1
		   ? PASSED
		   : FAILED;
}

static enum outcome test_slice_under_filter(void)
{
	int ends[4];
	char byte;
	pid_t child;

	CHECK(pipe(&ends[0]) == 0 && pipe(&ends[2]) == 0);
	child = fork();
	if (child == 0)
		_exit(wait_under_filter(ends));
	CHECK(read(ends[0], &byte, 1) == 1);
	CHECK(slice_of(child) == default_ns);
	CHECK(write(ends[3], "x", 1) == 1);
	return PASSED;
}

/* ---- beside another thread -------------------------------------------------------------- */

static atomic_int is_over;

static void *enter_beside(void *unused)
{
	while (!atomic_load(&is_over)) {
		kadapt_phase_enter(LONG);
		kadapt_phase_enter(PLAIN);
	}
	return unused;
}

static int filter_beside(void *round)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, enter_beside, NULL))
		return FAILED;
	sleep_for(*(int *)round % 10 * NS_PER_MS / 3);
	if (go_under_filter(2))
		return SKIPPED;
	sleep_for(NS_PER_MS);
	atomic_store(&is_over, 1);
	pthread_join(thread, NULL);
	return PASSED;
}

static enum outcome test_beside(void)
{
	for (int round = 0; round < ROUNDS; round++)
		CHECK(in_child(filter_beside, &round) == PASSED);
	return PASSED;
}

/* ---- inherited -------------------------------------------------------------------------- */

static int exec_under_filter(void *unused)
{
	(void)unused;
	if (go_under_filter(2))
		return SKIPPED;
	execl("/proc/self/exe", "slices", CALM_AFTER_EXEC, NULL);
	return FAILED;
}

static enum outcome test_inherited(void)
{
	CHECK(in_child(exec_under_filter, NULL) == PASSED);
	return PASSED;
}

const struct test_case filter_cases[] = {
    {"filter", "no calls under a filter that kills for them", test_filter},
    {"filter_slice", "the thread goes under its filter with the default", test_slice_under_filter},
    {"filter_beside", "likewise while another thread enters phases", test_beside},
    {"filter_inherited", "no calls if the process began under a filter", test_inherited},
    {0},
};
