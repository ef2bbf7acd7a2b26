// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls before which the library unbinds rings: the kernel reads the file's size or the
 * table of descriptors for them, or checks rights, and its guard is not asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ulimit.h>
#include <unistd.h>

#include "cases.h"
#include "twice.h"

#define RECORDS 20
#define HALF (RECORDS / 2 * NUMBERED_BYTES)

extern int capset(cap_user_header_t header, const cap_user_data_t data);

static void write_some(const struct calls *calls, int file, char tag)
{
	for (int i = 0; i < RECORDS; i++) {
		errno = 0;
		tell("write", write_numbered(calls, file, tag, i));
		tell("errno", errno);
	}
}

static void tell_result(const char *what, long result)
{
	tell(what, result);
	tell("errno", result < 0 ? errno : 0);
}

static enum outcome course_sizes(const struct calls *calls)
{
	struct flock end = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -HALF};
	int file = open_first(0), target = open_second(0);
	loff_t size = -1;

	write_some(calls, file, 'a');
	tell_result("FIOQSIZE", ioctl(file, FIOQSIZE, &size));
	tell("size", size);
	write_some(calls, file, 'b');
	tell_result("lock", fcntl(file, F_SETLK, &end));
	write_some(calls, file, 'c');
	tell_result("lockf", lockf(file, F_TLOCK, -5 * HALF));
	write_some(calls, file, 'd');
	size = 0;
	tell_result("copied", copy_file_range(file, &size, target, NULL, 1 << 20, 0));
	write_some(calls, file, 'e');
	size = 0;
	tell_result("copied", syscall(SYS_copy_file_range, file, &size, target, NULL, 1 << 20, 0));
	return PASSED;
}

static enum outcome test_sizes(void)
{
	return twice(course_sizes, RECORDS);
}

static enum outcome course_limit(const struct calls *calls)
{
	int file = open_first(0);

	signal(SIGXFSZ, SIG_IGN);
	write_some(calls, file, 'a');
	tell_result("ulimit", ulimit(UL_SETFSIZE, 1L));
	for (int i = 0; i < 3; i++)
		write_some(calls, file, 'b');
	return PASSED;
}

static enum outcome test_limit(void)
{
	return twice(course_limit, RECORDS / 2);
}

static enum outcome course_capabilities(const struct calls *calls)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];
	int file = open_first(0);
	struct stat status;

	memset(none, 0, sizeof(none));
	CHECK(!fchmod(file, 04755));
	write_some(calls, file, 'a');
	tell_result("capset", capset(&header, none));
	write_some(calls, file, 'b');
	CHECK(!fstat(file, &status));
	tell("mode", status.st_mode);
	return PASSED;
}

static enum outcome test_capabilities(void)
{
	return twice(course_capabilities, RECORDS / 2);
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

/* The thread leaves the shared table without the file's number. */
static enum outcome course_table(const struct calls *calls)
{
	int file = open_first(0), number = dup2(file, 200);
	pthread_t thread;

	CHECK(!close(file) && !pthread_create(&thread, NULL, wait_for_ever, NULL));
	write_some(calls, number, 'a');
	tell_result("close", close_range(200, ~0U, CLOSE_RANGE_UNSHARE));
	write_some(calls, number, 'b');
	tell("number", dup2(open_second(0), number) == number);
	write_some(calls, number, 'c');
	return PASSED;
}

static enum outcome test_table(void)
{
	return twice(course_table, RECORDS / 2);
}

static struct {
	const struct calls *calls;
	int file;
	pthread_barrier_t turn;
} apart;

/* In this thread, the number is the second file's. */
static void *write_elsewhere(void *unused)
{
	pthread_barrier_wait(&apart.turn);
	if (unshare(CLONE_FILES) || dup2(open_second(0), apart.file) != apart.file)
		abort();
	pthread_barrier_wait(&apart.turn);
	pthread_barrier_wait(&apart.turn);
	write_some(apart.calls, apart.file, 'b');
	pthread_barrier_wait(&apart.turn);
	return unused;
}

static enum outcome course_two_tables(const struct calls *calls)
{
	pthread_t thread;

	apart.calls = calls;
	apart.file = open_first(0);
	CHECK(!pthread_barrier_init(&apart.turn, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, write_elsewhere, NULL));
	write_some(calls, apart.file, 'a');
	pthread_barrier_wait(&apart.turn);
	pthread_barrier_wait(&apart.turn);
	write_some(calls, apart.file, 'c');
	pthread_barrier_wait(&apart.turn);
	pthread_barrier_wait(&apart.turn);
	write_some(calls, apart.file, 'd');
	CHECK(!pthread_join(thread, NULL));
	return PASSED;
}

static enum outcome test_two_tables(void)
{
	return twice(course_two_tables, RECORDS / 2);
}

/* From /proc, which asks nobody: the position after the last drain. */
static long drained(int file)
{
	char name[64];
	long position = -1;
	FILE *answer;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", file);
	answer = fopen(name, "r");
	if (!answer || fscanf(answer, "pos: %ld", &position) != 1)
		position = -1;
	if (answer)
		fclose(answer);
	return position;
}

static enum outcome course_synced(const struct calls *calls)
{
	int file = open_first(0);

	write_some(calls, file, 'a');
	sync();
	tell("sync", drained(file));
	write_some(calls, file, 'b');
	tell_result("syncfs", syncfs(file));
	tell("syncfs", drained(file));
	return PASSED;
}

static enum outcome test_synced(void)
{
	return twice(course_synced, RECORDS);
}

const struct test_case size_cases[] = {
    {"size_read", "calls that read the file's size", test_sizes},
    {"size_limit", "a limit by ulimit()", test_limit},
    {"size_capabilities", "capabilities that are given up", test_capabilities},
    {"size_table", "close_range() in a table of the thread's own", test_table},
    {"size_two_tables", "a number that means two files", test_two_tables},
    {"size_synced", "sync() and syncfs()", test_synced},
    {0},
};
