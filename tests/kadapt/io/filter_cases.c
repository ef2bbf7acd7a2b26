// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that go under seccomp(2) with pending records. They go on with plain calls, and their
 * filter judges each call. They are not killed for calls of the library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "twice.h"

#define RECORDS 20
#define ROUNDS 60

static void write_some(const struct calls *calls, int file, char tag)
{
	for (int i = 0; i < RECORDS; i++) {
		errno = 0;
		tell("write", write_numbered(calls, file, tag, i));
		tell("errno", errno);
	}
}

/* A filter with this action for one call; it allows all others. */
static int filter_with(uint32_t number, uint32_t action, int (*install)(struct sock_fprog *))
{
	struct sock_filter lines[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, action),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = lines};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return install(&program);
}

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
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}

static int by_seccomp_for_all(struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    program);
}

static int (*const installs[])(struct sock_fprog *) = {by_prctl, by_raw_prctl, by_seccomp,
						       by_seccomp_for_all};

#define INSTALLS ((int)(sizeof(installs) / sizeof(*installs)))

static int strictly(int way)
{
	if (way == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (way == 1)
		return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
}

typedef void (*child_function)(const struct calls *calls, int file, int way);

/* In children, because a filter stays. They write in turns. */
static enum outcome in_children(const struct calls *calls, child_function function, int ways)
{
	int file = open_first(O_APPEND);
	int status;

	for (int way = 0; way < ways; way++) {
		pid_t child = fork();

		if (!child) {
			/* Each child opens the file, because a shared file has no ring. */
			close(file);
			file = open(FIRST, O_RDWR | O_APPEND);
			function(calls, file, way);
			_exit(FAILED);
		}
		close(file);
		CHECK(waitpid(child, &status, 0) == child);
		tell("status", status);
		file = open(FIRST, O_RDWR | O_APPEND);
	}
	return PASSED;
}

static void go_strict(const struct calls *calls, int file, int way)
{
	write_some(calls, file, 'b');
	if (strictly(way))
		_exit(SKIPPED);
	for (int i = 0; i < 20; i++)
		write_some(calls, file, 's');
	syscall(SYS_exit, 0);
}

static enum outcome strict_children(const struct calls *calls)
{
	return in_children(calls, go_strict, 3);
}

static enum outcome test_strict(void)
{
	return twice(strict_children, 0);
}

/* The filter kills a process that calls the device. */
static void go_without_ioctl(const struct calls *calls, int file, int way)
{
	write_some(calls, file, 'b');
	if (filter_with(SYS_ioctl, SECCOMP_RET_KILL_PROCESS, installs[way]))
		_exit(SKIPPED);
	for (int i = 0; i < 20; i++)
		write_some(calls, file, 'f');
	kadapt_phase_enter(SLOW_PHASE);
	exit(PASSED);
}

static enum outcome children_without_ioctl(const struct calls *calls)
{
	return in_children(calls, go_without_ioctl, INSTALLS);
}

static enum outcome test_filter(void)
{
	return twice(children_without_ioctl, 0);
}

/* No record escapes the filter: each write is refused from here on. */
static void go_without_write(const struct calls *calls, int file, int way)
{
	write_some(calls, file, 'b');
	if (filter_with(SYS_write, SECCOMP_RET_ERRNO | EDQUOT, installs[way]))
		_exit(SKIPPED);
	write_some(calls, file, 'x');
	_exit(PASSED);
}

static enum outcome children_without_write(const struct calls *calls)
{
	return in_children(calls, go_without_write, INSTALLS);
}

static enum outcome test_refused(void)
{
	return twice(children_without_write, 0);
}

/* ---- beside another thread -------------------------------------------------------------- */

static struct {
	const struct calls *calls;
	int file;
	_Atomic int written;
	_Atomic int over;
} beside;

static void *write_beside(void *unused)
{
	while (!atomic_load(&beside.over))
		if (write_numbered(beside.calls, beside.file, 't', atomic_load(&beside.written)) ==
		    0)
			atomic_fetch_add(&beside.written, 1);
		else
			abort();
	return unused;
}

static void filter_beside(const struct calls *calls, int file, int way)
{
	pthread_t thread;

	beside.calls = calls;
	beside.file = file;
	if (pthread_create(&thread, NULL, write_beside, NULL))
		_exit(FAILED);
	sleep_for((1 + way % 10) * NS_PER_MS / 3);
	if (filter_with(SYS_ioctl, SECCOMP_RET_KILL_PROCESS,
			way % 2 ? by_seccomp_for_all : by_prctl))
		_exit(SKIPPED);
	sleep_for(NS_PER_MS);
	atomic_store(&beside.over, 1);
	pthread_join(thread, NULL);
	_exit(lseek(file, 0, SEEK_END) == (off_t)beside.written * NUMBERED_BYTES ? PASSED : FAILED);
}

/* The number of records varies, so the course does not tell it. */
static enum outcome children_beside(const struct calls *calls)
{
	int status;

	for (int way = 0; way < ROUNDS; way++) {
		pid_t child = fork();

		if (!child)
			filter_beside(calls, open_first(0), way);
		CHECK(waitpid(child, &status, 0) == child);
		if (status)
			note("round %d: status %#x", way, status);
		CHECK(status == 0);
	}
	return PASSED;
}

static enum outcome test_beside(void)
{
	return with_both(children_beside);
}

const struct test_case filter_cases[] = {
    {"filter_strict", "strict seccomp, by all ways to ask for it", test_strict},
    {"filter_ioctl", "a filter that kills for ioctl()", test_filter},
    {"filter_write", "a filter that refuses to write", test_refused},
    {"filter_beside", "the same while another thread writes", test_beside},
    {0},
};
