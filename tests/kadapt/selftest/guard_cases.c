// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whoever touches a bound file finds the records that the ring accepted.
 *
 * A case touches two files in the same way. The text of the first was written by
 * write(2). The text of the second is in a ring, which nothing but the touch would
 * drain for a second. Both touches must return the same and leave the same file.
 * Touches are plain system calls, so no library can drain the ring first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "guard_touches.h"
#include "harness.h"
#include "ring.h"

#define LONG_DELAY NS_PER_S

/* A touch's result, and what the file is like afterwards. */
struct seen {
	long answer;
	int error;
	off_t position;
	long flags;
	struct stat status;
	char content[128];
	ssize_t length;
};

/* ---- twice ------------------------------------------------------------------------------ */

static void look(int file, struct seen *seen)
{
	seen->flags = fcntl(file, F_GETFL);
	seen->position = lseek(file, 0, SEEK_CUR);
	fstat(file, &seen->status);
	seen->length = pread(file, seen->content, sizeof(seen->content), 0);
}

static int begin(const char *name)
{
	int file = open_scratch(name, O_RDWR | O_CREAT | O_TRUNC);

	return write(file, BEFORE, sizeof(BEFORE) - 1) == sizeof(BEFORE) - 1 ? file : -1;
}

static void touch_plainly(touch_function touch, struct seen *seen)
{
	int file = begin("guard.plain");

	if (write(file, PENDING, sizeof(PENDING) - 1) != sizeof(PENDING) - 1)
		note("the plain file was not written");
	errno = 0;
	seen->answer = touch(file);
	seen->error = errno;
	look(file, seen);
	close(file);
}

/* Also checks that the touch itself drained the ring. */
static enum outcome touch_bound(touch_function touch, struct seen *seen)
{
	int file = begin("guard.bound");
	struct test_ring ring;
	int is_empty;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, PENDING, sizeof(PENDING) - 1));
	errno = 0;
	seen->answer = touch(file);
	seen->error = errno;
	is_empty = !ring_pending(&ring);
	look(file, seen);
	CHECK(is_empty);
	CHECK(ring_unbind(&ring) == 0);
	close(file);
	close(ring.device);
	return PASSED;
}

static int took_times(const struct stat *one)
{
	return one->st_mtim.tv_sec == 2 && one->st_atim.tv_sec == 1;
}

static enum outcome compare(const struct seen *plain, const struct seen *bound)
{
	if (plain->answer != bound->answer || plain->error != bound->error)
		note("plain: %ld, errno %d; bound: %ld, errno %d", plain->answer, plain->error,
		     bound->answer, bound->error);
	if (plain->length != bound->length || memcmp(plain->content, bound->content, 128))
		note("plain: %zd '%s'; bound: %zd '%s'", plain->length, plain->content,
		     bound->length, bound->content);
	CHECK(plain->answer == bound->answer && plain->error == bound->error);
	CHECK(plain->length == bound->length);
	CHECK(!memcmp(plain->content, bound->content, sizeof(plain->content)));
	CHECK(plain->position == bound->position);
	CHECK(plain->flags == bound->flags);
	CHECK(plain->status.st_mode == bound->status.st_mode);
	CHECK(plain->status.st_size == bound->status.st_size);
	CHECK(plain->status.st_blocks == bound->status.st_blocks);
	CHECK(took_times(&plain->status) == took_times(&bound->status));
	return PASSED;
}

/* The plain touch is in a process of its own: after the use of io_uring, no ring is bound. */
static enum outcome twice(touch_function touch)
{
	struct seen *plain =
	    mmap(NULL, sizeof(*plain), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct seen bound = {0};
	pid_t child = fork();

	if (!child) {
		touch_plainly(touch, plain);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	if (plain->answer == -ENOSYS)
		return skip("this kernel lacks the call");
	CHECK(touch_bound(touch, &bound) == PASSED);
	return compare(plain, &bound);
}

#define DEFINE_CASE(name)                                                                          \
	static enum outcome test_##name(void)                                                      \
	{                                                                                          \
		return twice(by_##name);                                                           \
	}
TOUCHES(DEFINE_CASE)

/* ---- beside ----------------------------------------------------------------------------- */

/* Whom the file's signals are for: unbinding must not change it. */
static enum outcome test_receiver(void)
{
	int file = begin("guard.receiver");
	struct test_ring ring;

	CHECK(fcntl(file, F_SETOWN, getpid()) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(fcntl(file, F_SETSIG, SIGUSR1) == 0);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(fcntl(file, F_GETOWN) == getpid());
	CHECK(fcntl(file, F_GETSIG) == SIGUSR1);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(fcntl(file, F_SETOWN, 0) == 0);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(fcntl(file, F_GETOWN) == 0);
	return PASSED;
}

static int signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void append_for_ever(int file)
{
	struct test_ring ring;

	if (ring_open(&ring, 0))
		_exit(1);
	for (;;) {
		if (!ring_bind_for(&ring, file, LONG_DELAY))
			ring_append(&ring, TEXT, 5);
		sched_yield();
	}
}

/* The signal's handler has no SA_RESTART, and open() of a plain file never fails with EINTR. */
static enum outcome test_interrupted(void)
{
	const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = count_signal};
	int opens = 0, other = 0, file = begin("guard.interrupted");
	pid_t child = fork();

	if (!child)
		append_for_ever(file);
	close(file);
	CHECK(child > 0 && !sigaction(SIGALRM, &action, NULL));
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 3000) {
		other = open_scratch("guard.interrupted", O_RDONLY);
		if (other < 0)
			break;
		close(other);
		opens++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	kill(child, SIGKILL);
	note("%d opens, %d signals", opens, signals);
	CHECK(other >= 0);
	CHECK(waitpid(child, NULL, 0) == child);
	return PASSED;
}

#define LIST_CASE(name) {"guard_" #name, "a ring is emptied by " #name, test_##name},

const struct test_case guard_cases[] = {
    TOUCHES(LIST_CASE){"guard_receiver", "signals of the file keep their receiver", test_receiver},
    {"guard_interrupted", "signals beside opens of a bound file", test_interrupted},
    {0},
};
