// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program also writes to the file of its records by calls that are not redirected: by other
 * functions of the C library, by asynchronous ones, by another thread. The order stays.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "twice.h"

#define ROUNDS 10
#define RECORDS 10

static void write_some(const struct calls *calls, int file)
{
	static int number;

	for (int i = 0; i < RECORDS; i++)
		tell("write", write_numbered(calls, file, 'r', number++));
}

static int as_standard_error(void)
{
	int file = open_first(O_APPEND);
	int result = dup2(file, STDERR_FILENO);

	return close(file) || result != STDERR_FILENO ? -1 : 0;
}

/* In each of these, the C library itself writes to standard error. */
static void say(int which)
{
	errno = ENOENT;
	switch (which) {
	case 0:
		perror("perror");
		break;
	case 1:
		warn("warn %d", 1);
		break;
	case 2:
		warnx("warnx");
		break;
	case 3:
		error(0, EACCES, "error");
		break;
	case 4:
		psignal(SIGSEGV, "psignal");
		break;
	case 5:
		fprintf(stderr, "fprintf %d\n", which);
		break;
	case 6:
		dprintf(STDERR_FILENO, "dprintf %d\n", which);
		break;
	case 7:
		fputs("fputs\n", stderr);
		break;
	default:
		putc('\n', stderr);
	}
}

static enum outcome complain(const struct calls *calls)
{
	CHECK(as_standard_error() == 0);
	for (int i = 0; i < 9 * ROUNDS; i++) {
		write_some(calls, STDERR_FILENO);
		say(i % 9);
	}
	write_some(calls, STDERR_FILENO);
	tell("position", lseek(STDERR_FILENO, 0, SEEK_CUR));
	return PASSED;
}

static enum outcome test_complaints(void)
{
	return twice(complain, 9 * ROUNDS * RECORDS / 2);
}

static enum outcome complain_wide(const struct calls *calls)
{
	CHECK(as_standard_error() == 0);
	for (int i = 0; i < ROUNDS; i++) {
		write_some(calls, STDERR_FILENO);
		tell("fwprintf", fwprintf(stderr, L"wide %d\n", i));
		write_some(calls, STDERR_FILENO);
		tell("fputws", fputws(L"wide text\n", stderr) >= 0);
		tell("flush", calls->flush(stderr));
	}
	return PASSED;
}

static enum outcome test_wide(void)
{
	return twice(complain_wide, ROUNDS * RECORDS);
}

/* Each way to end that prints a message. The child's records come before the message. */
static enum outcome end_with_words(const struct calls *calls)
{
	CHECK(as_standard_error() == 0);
	for (int i = 0; i < 4; i++) {
		int status;
		pid_t child = fork();

		if (!child) {
			write_some(calls, STDERR_FILENO);
			errno = EDOM;
			if (i == 0)
				err(3, "err");
			if (i == 1)
				error(4, 0, "error");
			if (i == 2)
				assert(i == 1);
			if (i == 3)
				errx(5, "errx");
		}
		CHECK(waitpid(child, &status, 0) == child);
		tell("status", status);
		write_some(calls, STDERR_FILENO);
	}
	return PASSED;
}

static enum outcome test_ends(void)
{
	return twice(end_with_words, 4 * RECORDS / 2);
}

/* Buffered streams on the same open file. exit() flushes them. */
static enum outcome mix_streams(const struct calls *calls)
{
	int file = open_first(O_APPEND);
	FILE *stream = fdopen(dup(file), "a");

	CHECK(file >= 0 && stream);
	for (int i = 0; i < ROUNDS; i++) {
		write_some(calls, file);
		for (int j = 0; j < 300; j++)
			fprintf(stream, "stream %d %d\n", i, j);
		write_some(calls, file);
		if (i % 2)
			tell("fflush", fflush(i % 3 ? stream : NULL));
	}
	fputs("left to exit\n", stream);
	return PASSED;
}

static enum outcome test_streams(void)
{
	return twice(mix_streams, 0);
}

/* ---- asynchronous ----------------------------------------------------------------------- */

static long finish(struct aiocb *request)
{
	const struct aiocb *list[1] = {request};

	while (aio_error(request) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	return aio_return(request);
}

/* The first request starts the C library's threads. */
static enum outcome ask_beside(const struct calls *calls)
{
	int file = open_first(0);
	char text[64];

	for (int i = 0; i < ROUNDS; i++) {
		struct aiocb request = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 30};

		memset(text, 0, sizeof(text));
		write_some(calls, file);
		request.aio_offset = lseek(file, 0, SEEK_CUR) - 30;
		write_some(calls, file);
		CHECK(aio_read(&request) == 0);
		tell("read", finish(&request));
		tell("text", text[29] + 1000 * atoi(text + 2));
		write_some(calls, file);
		request.aio_offset += 20;
		memset(text, 'w', sizeof(text));
		CHECK(aio_write(&request) == 0);
		write_some(calls, file);
		tell("write", finish(&request));
		write_some(calls, file);
		CHECK(aio_fsync(O_SYNC, &request) == 0);
		tell("fsync", finish(&request));
	}
	tell("position", lseek(file, 0, SEEK_CUR));
	return PASSED;
}

static enum outcome test_aio(void)
{
	return twice(ask_beside, ROUNDS * RECORDS);
}

/* At the end of the file: they come after the records that are there when they begin. */
static enum outcome append_beside(const struct calls *calls)
{
	static char text[] = "asynchronous\n";
	int file = open_first(O_APPEND);

	for (int i = 0; i < ROUNDS; i++) {
		struct aiocb one = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 13};
		struct aiocb *list[1] = {&one};

		one.aio_lio_opcode = LIO_WRITE;
		write_some(calls, file);
		CHECK((i % 2 ? lio_listio(LIO_WAIT, list, 1, NULL) : aio_write(&one)) == 0);
		tell("write", finish(&one));
		write_some(calls, file);
	}
	return PASSED;
}

static enum outcome test_aio_append(void)
{
	return twice(append_beside, ROUNDS * RECORDS);
}

/* ---- other calls ------------------------------------------------------------------------ */

static int64_t write_batch(const struct calls *calls, int file, const char *text)
{
	int64_t last = 0, done = 0;

	if (calls == &adapted_calls)
		return kadapt_batch_write(file, text, 2, 3, 10, &last);
	while (done < 10 && write(file, text + done * 3, 2) == 2)
		done++;
	return done;
}

/* Batches, records too long for a ring, empty records, pieces. */
static enum outcome mix_lengths(const struct calls *calls)
{
	static char text[40000];
	int file = open_first(0);

	memset(text, 'l', sizeof(text));
	for (int i = 0; i < 3 * ROUNDS; i++) {
		const struct iovec pieces[] = {{text, 5}, {text, 0}, {(void *)"\n", 1}};

		write_some(calls, file);
		tell("batch", write_batch(calls, file, "a\n-b\n-c\n-d\n-e\n-f\n-g\n-h\n-i\n-j\n"));
		write_some(calls, file);
		tell("long", calls->write(file, text, (size_t)i * 1000));
		tell("empty", calls->write(file, text, 0));
		tell("writev", calls->writev(file, pieces, 1 + i % 3));
		write_some(calls, file);
		tell("none", calls->writev(file, pieces, 0));
		tell("wrong", calls->writev(file, pieces, -1));
		tell("errno", errno);
		tell("closed", calls->write(-1, text, 10));
		tell("errno", errno);
		tell("beyond", calls->write(5000, text, 10));
		tell("errno", errno);
	}
	return PASSED;
}

static enum outcome test_lengths(void)
{
	return twice(mix_lengths, 9 * ROUNDS * RECORDS / 2);
}

/* Descriptors that are open for reading only, of a folder, or closed. */
static enum outcome fail(const struct calls *calls)
{
	int file = open_first(0);
	int reader = open(FIRST, O_RDONLY), folder = open("/tmp", O_RDONLY);

	for (int i = 0; i < 50; i++) {
		tell("reader", write_numbered(calls, reader, 'x', i));
		tell("errno", errno);
		tell("folder", write_numbered(calls, folder, 'x', i));
		tell("errno", errno);
		tell("file", write_numbered(calls, file, 'f', i));
	}
	close(reader);
	for (int i = 0; i < 50; i++)
		tell("file", write_numbered(calls, file, 'f', i));
	close(file);
	tell("closed", write_numbered(calls, file, 'x', 0));
	tell("errno", errno);
	return PASSED;
}

static enum outcome test_errors(void)
{
	return twice(fail, 30);
}

/* ---- limits ----------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void count_signal(int unused)
{
	(void)unused;
	signals++;
}

static void set_limit(rlim_t bytes)
{
	const struct rlimit limit = {bytes, RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &limit);
}

/* A limit within a record, at its end, then a lower and a higher one. */
static enum outcome meet_limits(const struct calls *calls)
{
	int file = open_first(0);

	signal(SIGXFSZ, count_signal);
	for (int i = 0; i < ROUNDS; i++) {
		set_limit(RLIM_INFINITY);
		write_some(calls, file);
		set_limit((rlim_t)lseek(file, 0, SEEK_CUR) + 35 + 5 * (rlim_t)i);
		for (int j = 0; j < 20; j++) {
			errno = 0;
			tell("write", calls->write(file, "0123456789", 10));
			tell("errno", errno);
			tell("signals", signals);
		}
		set_limit(10);
		tell("low", calls->write(file, "0123456789", 10));
		tell("signals", signals);
	}
	return PASSED;
}

static enum outcome test_limits(void)
{
	return twice(meet_limits, 30);
}

/* A program that gives up rights during a burst goes on as without rings. */
static enum outcome change_user(const struct calls *calls)
{
	int file = open_first(0);

	CHECK(fchown(file, 1000, 1000) == 0 && fchmod(file, 06755) == 0);
	write_some(calls, file);
	CHECK(fchmod(file, 06755) == 0);
	tell("setegid", setegid(1000));
	tell("seteuid", seteuid(1000));
	write_some(calls, file);
	write_some(calls, file);
	tell("seteuid", seteuid(0));
	return PASSED;
}

static enum outcome test_user(void)
{
	return twice(change_user, RECORDS);
}

/* ---- times ------------------------------------------------------------------------------ */

/* The delay, and two ticks of the clock of file times. */
#define LATEST (25 * NS_PER_MS)

static int64_t nanoseconds(struct timespec time)
{
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* Reserving and giving back space after the last record changes no times. */
static enum outcome test_times(void)
{
	int plain = open_first(0), adapted = open_second(0);
	struct stat one, other, later;

	for (int i = 0; i < 100; i++) {
		CHECK(write_numbered(&plain_calls, plain, 't', i) == 0);
		CHECK(write_numbered(&adapted_calls, adapted, 't', i) == 0);
	}
	sleep_for(NS_PER_S);
	CHECK(stat(FIRST, &one) == 0 && stat(SECOND, &other) == 0);
	note("%ld us later", (long)(nanoseconds(other.st_mtim) - nanoseconds(one.st_mtim)) / 1000);
	CHECK(nanoseconds(other.st_mtim) - nanoseconds(one.st_mtim) < LATEST);
	CHECK(nanoseconds(other.st_ctim) - nanoseconds(one.st_ctim) < LATEST);
	CHECK(one.st_size == other.st_size && one.st_blocks == other.st_blocks);
	close(adapted);
	CHECK(stat(SECOND, &later) == 0);
	CHECK(nanoseconds(other.st_mtim) == nanoseconds(later.st_mtim));
	CHECK(nanoseconds(other.st_ctim) == nanoseconds(later.st_ctim));
	return PASSED;
}

const struct test_case order_cases[] = {
    {"order_complaints", "perror(), warn(), error() and their like", test_complaints},
    {"order_wide", "a wide stream", test_wide},
    {"order_ends", "assert(), err() and their like", test_ends},
    {"order_streams", "a stream on the same open file", test_streams},
    {"order_aio", "asynchronous reading and writing", test_aio},
    {"order_aio_append", "asynchronous writing to the end", test_aio_append},
    {"order_lengths", "batches, empty and long records", test_lengths},
    {"order_errors", "descriptors that can't be written to", test_errors},
    {"order_limits", "file-size limits that come and go", test_limits},
    {"order_user", "a user that changes", test_user},
    {"order_times", "a file's times after a burst", test_times},
    {0},
};
