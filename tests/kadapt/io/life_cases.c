// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads, signals, changing descriptors, errors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "sink.h"

static int write_as_child(void *argument)
{
	struct sink *sink = argument;

	for (int i = 0; i < 3; i++)
		if (kadapt_write(sink->writer, "child67890", RECORD_BYTES) != RECORD_BYTES)
			return FAILED;
	return PASSED;
}

static enum outcome test_fork(void)
{
	char text[100] = {0};
	struct sink sink;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0);
	CHECK(sink_fill(&sink) == 0);
	CHECK(in_child(write_as_child, &sink) == PASSED);
	CHECK(kadapt_write(sink.writer, "parent7890", RECORD_BYTES) == RECORD_BYTES);
	CHECK(pread(sink.writer, text, sizeof(text), 0) == 70);
	CHECK(!memcmp(text, RECORD RECORD RECORD "child67890child67890child67890parent7890", 70));
	sink_close(&sink);
	return PASSED;
}

#define THREADS 4
#define RECORDS 20000

static struct sink shared;

/* Each thread writes its own numbered records. */
static void *write_numbered(void *argument)
{
	char record[32];

	for (int i = 0; i < RECORDS; i++) {
		snprintf(record, sizeof(record), "%d %07d\n", (int)(intptr_t)argument, i);
		if (kadapt_write(shared.writer, record, RECORD_BYTES) != RECORD_BYTES)
			return NULL;
	}
	return argument;
}

/* All records of each thread are there, whole and in order. */
static enum outcome check_numbered(int descriptor)
{
	int next[THREADS + 1] = {0};
	char record[RECORD_BYTES + 1] = {0};
	int thread, number;

	lseek(descriptor, 0, SEEK_SET);
	for (int i = 0; i < THREADS * RECORDS; i++) {
		CHECK(read(descriptor, record, RECORD_BYTES) == RECORD_BYTES);
		CHECK(sscanf(record, "%d %d", &thread, &number) == 2);
		CHECK(thread >= 1 && thread <= THREADS && record[RECORD_BYTES - 1] == '\n');
		CHECK(next[thread]++ == number);
	}
	CHECK(read(descriptor, record, 1) == 0);
	return PASSED;
}

static enum outcome test_threads(void)
{
	pthread_t threads[THREADS];
	void *result;

	CHECK(sink_open(&shared) == 0);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_numbered, (void *)(i + 1));
	for (intptr_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		CHECK(result == (void *)(i + 1));
	}
	CHECK(check_numbered(shared.writer) == PASSED);
	sink_close(&shared);
	return PASSED;
}

static atomic_int signals;

static void write_in_handler(int number)
{
	(void)number;
	signals++;
	if (kadapt_write(shared.writer, "signalled\n", RECORD_BYTES) != RECORD_BYTES)
		abort();
}

/* A timer's handler interrupts appends. All records are whole, and the main ones in order. */
static enum outcome test_signals(void)
{
	const struct itimerval fast = {{0, 500}, {0, 500}};
	const struct itimerval off = {{0, 0}, {0, 0}};
	char record[16] = {0};
	int next = 0, seen = 0;

	CHECK(sink_open(&shared) == 0);
	signal(SIGALRM, write_in_handler);
	setitimer(ITIMER_REAL, &fast, NULL);
	while (signals < 100) {
		snprintf(record, sizeof(record), "%09d\n", next++);
		CHECK(kadapt_write(shared.writer, record, RECORD_BYTES) == RECORD_BYTES);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	lseek(shared.writer, 0, SEEK_SET);
	for (int i = 0; read(shared.writer, record, RECORD_BYTES) == RECORD_BYTES;) {
		if (!strcmp(record, "signalled\n"))
			seen++;
		else
			CHECK(atoi(record) == i++);
	}
	note("%d signals in %d records", seen, next);
	CHECK(seen == signals);
	sink_close(&shared);
	return PASSED;
}

static enum outcome test_number_again(void)
{
	struct sink first, second;
	int number;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&first) == 0);
	CHECK(sink_fill(&first) == 0);
	/* A shorter burst would put off the next binding. */
	for (int i = 0; i < 5; i++)
		CHECK(kadapt_write(first.writer, RECORD, RECORD_BYTES) == RECORD_BYTES);
	number = first.writer;
	close(number);
	CHECK(sink_open(&second) == 0);
	CHECK(second.writer == number);
	CHECK(sink_fill(&second) == 0);
	CHECK(sink_arrived(&first) == 8 * RECORD_BYTES);
	close(number);
	CHECK(sink_arrived(&second) == 3 * RECORD_BYTES);
	CHECK(sink_arrived(&first) == 8 * RECORD_BYTES);
	return PASSED;
}

#define SMALL_FOLDER "/tmp/kadapt-io-small"

/* Writes records until a write fails. Tells their number and the error. */
typedef ssize_t write_function(int descriptor, const void *bytes, size_t size);

/* Some of the records are too long for a ring. Returns the number of written records. */
static int fill_up_mixed(write_function *function, const char *path, off_t *size)
{
	static const char bytes[20000] = "x";
	int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int count = 0;

	while (count < 10000) {
		size_t wanted = count % 50 == 49 ? sizeof(bytes) : 100;

		if (function(descriptor, bytes, wanted) != (ssize_t)wanted)
			break;
		count++;
	}
	*size = lseek(descriptor, 0, SEEK_END);
	close(descriptor);
	return count;
}

static enum outcome test_disk_full_mixed(void)
{
	int plain, adapted;
	off_t plain_size, adapted_size;

	mkdir(SMALL_FOLDER, 0700);
	CHECK(mount("none", SMALL_FOLDER, "tmpfs", 0, "size=256k") == 0);
	plain = fill_up_mixed(write, SMALL_FOLDER "/plain", &plain_size);
	unlink(SMALL_FOLDER "/plain");
	adapted = fill_up_mixed(kadapt_write, SMALL_FOLDER "/adapted", &adapted_size);
	umount(SMALL_FOLDER);
	note("%d records, %d records", plain, adapted);
	CHECK(plain > 100 && plain == adapted && plain_size == adapted_size);
	return PASSED;
}

static int fill_up(write_function *function, const char *path, int *error)
{
	char record[100];
	int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int count = 0;
	ssize_t written;

	memset(record, 'x', sizeof(record));
	while ((written = function(descriptor, record, sizeof(record))) == sizeof(record))
		count++;
	*error = written < 0 ? errno : (int)-written;
	written = function(descriptor, record, sizeof(record));
	CHECK(written < 0 && errno == (*error > 0 ? *error : errno));
	close(descriptor);
	return count;
}

static enum outcome test_disk_full(void)
{
	int plain, adapted, plain_error, adapted_error;

	mkdir(SMALL_FOLDER, 0700);
	CHECK(mount("none", SMALL_FOLDER, "tmpfs", 0, "size=256k") == 0);
	plain = fill_up(write, SMALL_FOLDER "/plain", &plain_error);
	unlink(SMALL_FOLDER "/plain");
	adapted = fill_up(kadapt_write, SMALL_FOLDER "/adapted", &adapted_error);
	umount(SMALL_FOLDER);
	note("%d records and %d, %d records and %d", plain, plain_error, adapted, adapted_error);
	CHECK(plain > 1000 && plain == adapted && plain_error == adapted_error);
	return PASSED;
}

static enum outcome test_size_limit(void)
{
	const struct rlimit limit = {.rlim_cur = 100050, .rlim_max = RLIM_INFINITY};
	int plain, adapted, plain_error, adapted_error;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	plain = fill_up(write, "/tmp/kadapt-io-plain", &plain_error);
	adapted = fill_up(kadapt_write, "/tmp/kadapt-io-adapted", &adapted_error);
	unlink("/tmp/kadapt-io-plain");
	unlink("/tmp/kadapt-io-adapted");
	note("%d records and %d, %d records and %d", plain, plain_error, adapted, adapted_error);
	CHECK(plain == 1000 && adapted == 1000 && plain_error == -50 && adapted_error == -50);
	return PASSED;
}

static int write_and_exit(void *argument)
{
	struct sink *sink = argument;

	if (kadapt_enter(SLOW_PHASE) || sink_open(sink) || sink_fill(sink))
		return FAILED;
	exit(PASSED);
}

static enum outcome test_exit(void)
{
	struct sink *sink = shared_memory(sizeof(*sink));

	CHECK(in_child(write_and_exit, sink) == PASSED);
	CHECK(sink_arrived(sink) == 3 * RECORD_BYTES);
	return PASSED;
}

const struct test_case life_cases[] = {
    {"life_fork", "parent and child write to one file", test_fork},
    {"life_threads", "four threads write to one file", test_threads},
    {"life_signals", "a handler writes to the descriptor it interrupted", test_signals},
    {"life_number_again", "a number that is closed and given out again", test_number_again},
    {"life_disk_full", "a full disk is met at the same record", test_disk_full},
    {"life_disk_full_mixed", "the same with records too long for a ring", test_disk_full_mixed},
    {"life_size_limit", "a file-size limit is met at the same byte", test_size_limit},
    {"life_exit", "what is pending at exit() arrives", test_exit},
    {0},
};
