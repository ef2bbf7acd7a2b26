// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of a stream between two flushes, and errors of flushes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "twice.h"

#define ROUNDS 20
#define RECORDS 20

static void flush_some(const struct calls *calls, FILE *stream, const char *text)
{
	for (int i = 0; i < RECORDS; i++) {
		errno = 0;
		tell("print", fprintf(stream, "%s %d\n", text, i));
		tell("flush", calls->flush(stream));
		tell("errno", errno);
	}
}

/* The child flushes, too, and exit() flushes the rest. */
static enum outcome fork_between(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");
	int status;

	for (int i = 0; i < ROUNDS; i++) {
		pid_t child;

		flush_some(calls, stream, "parent");
		tell("puts", fputs("in both buffers\n", stream));
		child = i % 2 ? fork() : _Fork();
		CHECK(child >= 0);
		if (!child) {
			flush_some(calls, stream, "child");
			fputs("left\n", stream);
			if (i % 3)
				fclose(stream);
			_exit(PASSED);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0);
		flush_some(calls, stream, "parent");
		tell("ftell", ftell(stream));
		tell("fseek", fseek(stream, 0, SEEK_END));
	}
	return fclose(stream) ? FAILED : PASSED;
}

static enum outcome several_streams(const struct calls *calls)
{
	int file = open_first(O_APPEND);
	FILE *one = fdopen(file, "a"), *same = fdopen(file, "a"), *copy = fdopen(dup(file), "a");

	CHECK(one && same && copy);
	for (int i = 0; i < ROUNDS; i++) {
		flush_some(calls, one, "one");
		flush_some(calls, same, "same");
		if (i == ROUNDS / 2)
			CHECK(fclose(copy) == 0);
		if (i < ROUNDS / 2)
			flush_some(calls, copy, "copy");
		tell("put", fputs("one, not flushed\n", one) >= 0);
		tell("ftell", ftell(same));
	}
	return fclose(one) ? FAILED : PASSED;
}

/* Without O_APPEND each stream overwrites at the position that the other left. */
static enum outcome several_positions(const struct calls *calls)
{
	FILE *one = fopen(FIRST, "w"), *other;

	CHECK(one);
	flush_some(calls, one, "alone");
	other = fdopen(dup(fileno(one)), "w");
	for (int i = 0; i < ROUNDS; i++) {
		flush_some(calls, one, "one");
		tell("ftell", ftell(other));
		flush_some(calls, other, "other");
		tell("ftell", ftell(one));
		tell("fseek", fseek(one, -10, SEEK_CUR));
	}
	fclose(other);
	flush_some(calls, one, "alone again");
	return fclose(one) ? FAILED : PASSED;
}

static enum outcome replaced(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");
	int number = fileno(stream);

	for (int i = 0; i < ROUNDS; i++) {
		int other = open(i % 2 ? FIRST : SECOND, O_WRONLY | O_CREAT | O_APPEND, 0600);

		flush_some(calls, stream, "before");
		tell("put", fputs("not flushed\n", stream) >= 0);
		CHECK(dup2(other, number) == number && close(other) == 0);
		flush_some(calls, stream, "after");
	}
	return fclose(stream) ? FAILED : PASSED;
}

static enum outcome closed_under(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");
	int number = fileno(stream);

	flush_some(calls, stream, "before");
	close(number);
	flush_some(calls, stream, "closed");
	tell("ferror", ferror(stream));
	CHECK(open(SECOND, O_RDWR | O_CREAT, 0600) == number);
	flush_some(calls, stream, "opened");
	clearerr(stream);
	flush_some(calls, stream, "cleared");
	tell("fclose", fclose(stream));
	return PASSED;
}

/* O_APPEND of a stream's file is set and cleared. */
static enum outcome flags_changed(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");
	int number = fileno(stream);

	for (int i = 0; i < ROUNDS; i++) {
		flush_some(calls, stream, "flagged");
		CHECK(fcntl(number, F_SETFL, i % 2 ? 0 : O_APPEND) == 0);
		flush_some(calls, stream, "flagged otherwise");
		tell("lseek", lseek(number, i * 10, SEEK_SET));
		tell("ftell", ftell(stream));
	}
	return fclose(stream) ? FAILED : PASSED;
}

/* An appending stream forgets its offset at each flush. */
static enum outcome sought(const struct calls *calls)
{
	static const char *const modes[] = {"a", "w"};

	for (int i = 0; i < 2 * ROUNDS; i++) {
		FILE *stream = fopen(FIRST, modes[i / ROUNDS]);

		flush_some(calls, stream, "sought");
		for (int j = 0; j < 3; j++) {
			tell("fseek", fseek(stream, i, SEEK_SET));
			tell("print", fprintf(stream, "there\n"));
			tell("flush", calls->flush(stream));
			tell("ftell", ftell(stream));
		}
		CHECK(fclose(stream) == 0);
	}
	return PASSED;
}

struct share {
	const struct calls *calls;
	FILE *stream;
};

static void *flush_share(void *argument)
{
	const struct share *share = argument;

	for (int i = 0; i < ROUNDS; i++)
		flush_some(share->calls, share->stream, "thread");
	return NULL;
}

static enum outcome in_thread(const struct calls *calls)
{
	struct share share = {calls, fopen(FIRST, "w")};
	pthread_t thread;

	flush_some(calls, share.stream, "before");
	CHECK(pthread_create(&thread, NULL, flush_share, &share) == 0);
	pthread_join(thread, NULL);
	flush_some(calls, share.stream, "after");
	flockfile(share.stream);
	flush_some(calls, share.stream, "locked");
	funlockfile(share.stream);
	return fclose(share.stream) ? FAILED : PASSED;
}

/* The second stream has the first one's number and memory. */
static enum outcome opened_anew(const struct calls *calls)
{
	for (int i = 0; i < ROUNDS; i++) {
		FILE *stream = fopen(FIRST, i % 2 ? "a" : "w");

		flush_some(calls, stream, "anew");
		stream = freopen(SECOND, i % 3 ? "a" : "w", stream);
		flush_some(calls, stream, "reopened");
		tell("fclose", fclose(stream));
	}
	return PASSED;
}

/* A second flush with nothing in between; then the position is asked. */
static enum outcome flushed_in_vain(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");

	for (int i = 0; i < 100; i++) {
		tell("flush", calls->flush(stream));
		if (i % 2)
			tell("print", fprintf(stream, "record %d\n", i));
		tell("flush", calls->flush(stream));
		tell("flush", calls->flush_unlocked(stream));
		if (i % 10 == 0)
			tell("lseek", lseek(fileno(stream), 5, SEEK_CUR));
	}
	return fclose(stream) ? FAILED : PASSED;
}

/* exit() flushes the rest of the buffer. */
static enum outcome left_to_exit(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");

	flush_some(calls, stream, "flushed");
	fputs("left to exit", stream);
	return PASSED;
}

#define CHANGES(CHANGE)                                                                            \
	CHANGE(fork_between, "fork()", 10)                                                         \
	CHANGE(several_streams, "several streams of one open file", 0)                             \
	CHANGE(several_positions, "several streams that share a position", 20)                     \
	CHANGE(replaced, "dup2() over the stream's descriptor", ROUNDS *RECORDS)                   \
	CHANGE(closed_under, "the stream's descriptor is closed", 10)                              \
	CHANGE(flags_changed, "O_APPEND comes and goes", ROUNDS *RECORDS)                          \
	CHANGE(sought, "fseek() between flushes", ROUNDS *RECORDS / 2)                             \
	CHANGE(in_thread, "another thread flushes", ROUNDS *RECORDS / 2)                           \
	CHANGE(opened_anew, "fclose(), and freopen()", ROUNDS *RECORDS)                            \
	CHANGE(flushed_in_vain, "nothing to flush", 0)                                             \
	CHANGE(left_to_exit, "a stream that is left to exit()", 10)

#define DEFINE(name, description, least)                                                           \
	static enum outcome test_##name(void)                                                      \
	{                                                                                          \
		return twice(name, least);                                                         \
	}
CHANGES(DEFINE)

/* ---- threads at once -------------------------------------------------------------------- */

#define THREADS 4
#define LINES 3000

static struct {
	const struct calls *calls;
	FILE *stream;
} common;

static void *flush_lines(void *argument)
{
	for (int i = 0; i < LINES; i++) {
		fprintf(common.stream, "%d %06d of that thread\n", (int)(intptr_t)argument, i);
		if (common.calls->flush(common.stream))
			abort();
	}
	return NULL;
}

static enum outcome check_lines(void)
{
	int next[THREADS] = {0}, thread, number, length;
	char text[100];
	FILE *file = fopen(FIRST, "r");

	for (int i = 0; i < THREADS * LINES; i++) {
		CHECK(fgets(text, sizeof(text), file));
		CHECK(sscanf(text, "%d %d of that thread%n", &thread, &number, &length) == 2);
		CHECK(text[length] == '\n' && next[thread]++ == number);
	}
	CHECK(!fgets(text, sizeof(text), file));
	fclose(file);
	return PASSED;
}

static enum outcome flush_together(const struct calls *calls)
{
	pthread_t threads[THREADS];

	common.calls = calls;
	common.stream = fopen(FIRST, "w");
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, flush_lines, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(ftell(common.stream) == THREADS * LINES * 24L);
	CHECK(fclose(common.stream) == 0);
	return check_lines();
}

static enum outcome test_threads(void)
{
	return with_both(flush_together);
}

/* ---- no room ---------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void count_signal(int unused)
{
	(void)unused;
	signals++;
}

static void flush_until_full(const struct calls *calls, FILE *stream, int count)
{
	for (int i = 0; i < count; i++) {
		errno = 0;
		tell("print", fprintf(stream, "%*d\n", 10 + i % 90, i));
		tell("flush", calls->flush(stream));
		tell("errno", errno);
		tell("ferror", ferror(stream));
		tell("signals", signals);
	}
}

static enum outcome meet_limit(const struct calls *calls)
{
	const struct rlimit limit = {20003, RLIM_INFINITY};
	FILE *stream = fopen(FIRST, "w");

	signal(SIGXFSZ, count_signal);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	flush_until_full(calls, stream, 500);
	clearerr(stream);
	tell("ftruncate", ftruncate(fileno(stream), 10000));
	rewind(stream);
	flush_until_full(calls, stream, 100);
	tell("fclose", fclose(stream));
	return PASSED;
}

static enum outcome test_limit(void)
{
	return twice(meet_limit, 200);
}

#define SMALL_FOLDER "/tmp/kadapt-io-flush"

static enum outcome meet_full_disk(const struct calls *calls)
{
	FILE *stream, *told = fopen(FIRST, "w");
	struct stat status;

	mkdir(SMALL_FOLDER, 0700);
	CHECK(mount("none", SMALL_FOLDER, "tmpfs", 0, "size=256k") == 0);
	stream = fopen(SMALL_FOLDER "/file", "w");
	flush_until_full(calls, stream, 6000);
	tell("stat", stat(SMALL_FOLDER "/file", &status));
	tell("size", status.st_size);
	tell("fclose", fclose(stream));
	fprintf(told, "size %ld\n", (long)status.st_size);
	fclose(told);
	CHECK(umount(SMALL_FOLDER) == 0);
	return PASSED;
}

static enum outcome test_full_disk(void)
{
	return twice(meet_full_disk, 2000);
}

#define LIST(name, description, least) {"flush_" #name, description, test_##name},

const struct test_case flush_change_cases[] = {
    CHANGES(LIST){"flush_threads", "four threads flush one stream", test_threads},
    {"flush_limit", "a file-size limit is met by a flush", test_limit},
    {"flush_full_disk", "a full disk is met by a flush", test_full_disk},
    {0},
};
