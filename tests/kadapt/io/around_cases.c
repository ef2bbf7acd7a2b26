// SPDX-License-Identifier: GPL-2.0-or-later
/* What the library does around an append: locks of streams, stacks, its own descriptor. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/device_file.h"
#include "cases.h"
#include "twice.h"

#define RECORDS 20
/* SIGALRM ends a course that hangs. */
#define LONGEST_SECONDS 20

/* Enough for the C library's thread and a few calls, but not for 16 KiB more. */
#define SMALL_STACK_BYTES 20480

struct flushing {
	const struct calls *calls;
	FILE *stream;
	pthread_barrier_t ready;
};

static void flush_records(const struct calls *calls, FILE *stream)
{
	for (int i = 0; i < RECORDS; i++) {
		fprintf(stream, "record %04d\n", i);
		calls->flush(stream);
	}
}

/* Binds a ring, then flushes until it is cancelled, at the latest when the ring is full. */
static void *flush_until_cancelled(void *argument)
{
	struct flushing *flushing = argument;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	flush_records(flushing->calls, flushing->stream);
	pthread_barrier_wait(&flushing->ready);
	pthread_setcancelstate(state, &state);
	for (;;)
		flush_records(flushing->calls, flushing->stream);
	return NULL;
}

static enum outcome course_cancelled(const struct calls *calls)
{
	struct flushing flushing = {.calls = calls, .stream = fdopen(open_first(0), "w")};
	pthread_t thread;
	void *result;

	alarm(LONGEST_SECONDS);
	CHECK(flushing.stream && !pthread_barrier_init(&flushing.ready, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, flush_until_cancelled, &flushing));
	pthread_barrier_wait(&flushing.ready);
	CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK(!ftrylockfile(flushing.stream));
	funlockfile(flushing.stream);
	CHECK(!fclose(flushing.stream));
	return PASSED;
}

static enum outcome test_cancelled(void)
{
	return with_both(course_cancelled);
}

static void *flush_beside(void *argument)
{
	const struct flushing *flushing = argument;

	flush_records(flushing->calls, flushing->stream);
	return NULL;
}

/* The program says that it locks the stream itself, and another thread holds the lock. */
static enum outcome course_by_caller(const struct calls *calls)
{
	struct flushing flushing = {.calls = calls, .stream = fdopen(open_first(0), "w")};
	pthread_t thread;

	alarm(LONGEST_SECONDS);
	CHECK(flushing.stream);
	__fsetlocking(flushing.stream, FSETLOCKING_BYCALLER);
	flockfile(flushing.stream);
	CHECK(!pthread_create(&thread, NULL, flush_beside, &flushing));
	CHECK(!pthread_join(thread, NULL));
	funlockfile(flushing.stream);
	tell("records", RECORDS);
	CHECK(!fclose(flushing.stream));
	return PASSED;
}

static enum outcome test_by_caller(void)
{
	return twice(course_by_caller, 1);
}

static void *write_pieces(void *argument)
{
	const struct flushing *flushing = argument;
	const struct iovec pieces[] = {{"two ", 4}, {"pieces\n", 7}};
	int file = fileno(flushing->stream);

	for (int i = 0; i < RECORDS; i++)
		if (flushing->calls->writev(file, pieces, 2) != 11)
			return NULL;
	return argument;
}

static enum outcome course_small_stack(const struct calls *calls)
{
	struct flushing flushing = {.calls = calls, .stream = fdopen(open_first(0), "w")};
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	CHECK(flushing.stream && !pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstacksize(&attributes, SMALL_STACK_BYTES));
	CHECK(!pthread_create(&thread, &attributes, write_pieces, &flushing));
	CHECK(!pthread_join(thread, &result) && result);
	CHECK(!fclose(flushing.stream));
	return PASSED;
}

static enum outcome test_small_stack(void)
{
	return twice(course_small_stack, 1);
}

/* The program puts a file at the device's number. Then its call for a filter fails. */
static enum outcome course_number(const struct calls *calls)
{
	int file = open_first(0);
	int number = kadapt_device_current();

	CHECK(number >= 0);
	for (int i = 0; i < RECORDS; i++)
		CHECK(!write_numbered(calls, file, 'a', i));
	CHECK(dup2(file, number) == number);
	errno = 0;
	tell("prctl", prctl(PR_SET_SECCOMP, 77UL, 0UL, 0UL, 0UL));
	tell("error", errno);
	CHECK(!write_numbered(calls, number, 'b', 0));
	return PASSED;
}

static enum outcome test_number(void)
{
	return twice(course_number, 1);
}

const struct test_case around_cases[] = {
    {"around_cancelled", "a thread that is cancelled in a flush locks no stream", test_cancelled},
    {"around_by_caller", "a stream whose lock is the program's", test_by_caller},
    {"around_small_stack", "pieces written on a small stack", test_small_stack},
    {"around_number", "a file of the program's at the device's number", test_number},
    {0},
};
