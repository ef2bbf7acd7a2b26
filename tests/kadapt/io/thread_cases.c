// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that are cancelled, that come and go, and that replace the descriptor's file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "ring/burst.h"
#include "sink.h"
#include "twice.h"

/* ---- rotation --------------------------------------------------------------------------- */

#define TURNS 40
#define RECORD_OF_TURN 20

static struct {
	const struct calls *calls;
	int file;
	_Atomic int turn; /* how often dup2() has returned */
	_Atomic int written;
	_Atomic int over;
} rotation;

static const char *file_of(int turn)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/kadapt-io-turn-%d", turn);
	return path;
}

/* Each record says which file was the newest when the write began. */
static void *write_turns(void *unused)
{
	char record[RECORD_OF_TURN + 1];

	while (!atomic_load(&rotation.over)) {
		snprintf(record, sizeof(record), "%08d after %04d\n",
			 atomic_load(&rotation.written), atomic_load(&rotation.turn));
		if (rotation.calls->write(rotation.file, record, RECORD_OF_TURN) != RECORD_OF_TURN)
			abort();
		atomic_fetch_add(&rotation.written, 1);
	}
	return unused;
}

/* The new file has no record whose write returned before dup2() was called. */
static int turn_to(int turn)
{
	int next = open(file_of(turn), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (dup2(next, rotation.file) != rotation.file || close(next))
		return -1;
	atomic_store(&rotation.turn, turn);
	return 0;
}

static enum outcome check_turn(int turn, int before, int *next)
{
	int file = open(file_of(turn), O_RDONLY);
	char record[RECORD_OF_TURN + 1] = "";
	int number, newest;

	while (read(file, record, RECORD_OF_TURN) == RECORD_OF_TURN) {
		CHECK(sscanf(record, "%d after %d", &number, &newest) == 2);
		if (number != *next || newest > turn || number < before)
			note("'%.*s' in file %d; %d had been written before", RECORD_OF_TURN - 1,
			     record, turn, before);
		CHECK(number == (*next)++);
		CHECK(newest <= turn);
		CHECK(number >= before);
	}
	close(file);
	unlink(file_of(turn));
	return PASSED;
}

static enum outcome rotate(const struct calls *calls)
{
	int before[TURNS + 1] = {0};
	pthread_t thread;
	int next = 0;

	rotation.calls = calls;
	rotation.file = open(file_of(0), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	CHECK(pthread_create(&thread, NULL, write_turns, NULL) == 0);
	for (int turn = 1; turn <= TURNS; turn++) {
		sleep_for((1 + turn % 7) * NS_PER_MS);
		before[turn] = atomic_load(&rotation.written);
		CHECK(turn_to(turn) == 0);
	}
	sleep_for(NS_PER_MS);
	atomic_store(&rotation.over, 1);
	pthread_join(thread, NULL);
	close(rotation.file);
	for (int turn = 0; turn <= TURNS; turn++)
		CHECK(check_turn(turn, before[turn], &next) == PASSED);
	note("%d records", next);
	CHECK(next == atomic_load(&rotation.written));
	return PASSED;
}

static enum outcome test_rotation(void)
{
	return with_both(rotate);
}

/* ---- cancellation ----------------------------------------------------------------------- */

/* The number of cancellations per file. Each file is checked before the next. */
#define CANCELLATIONS 15
#define FILES 10

static struct {
	const struct calls *calls;
	int file;
	int type;
	_Atomic int told[CANCELLATIONS + 1]; /* for each thread, the records whose write returned */
	_Atomic int over;
} cancelled;

static void put(const char *record)
{
	ssize_t result = cancelled.calls->write(cancelled.file, record, RECORD_OF_TURN);

	if (result == RECORD_OF_TURN)
		return;
	note("a write returned %ld (%m)", (long)result);
	abort();
}

static void *write_until_cancelled(void *argument)
{
	int me = (int)(intptr_t)argument;
	char record[2 * RECORD_OF_TURN];

	pthread_setcanceltype(cancelled.type, NULL);
	for (int i = 0;; i++) {
		snprintf(record, sizeof(record), "%09d %09d\n", me, i);
		put(record);
		atomic_fetch_add(&cancelled.told[me], 1);
	}
	return NULL;
}

static void *write_beside(void *unused)
{
	char record[2 * RECORD_OF_TURN];

	for (int i = 0; !atomic_load(&cancelled.over); i++) {
		snprintf(record, sizeof(record), "%09d %09d\n", CANCELLATIONS, i);
		put(record);
		atomic_fetch_add(&cancelled.told[CANCELLATIONS], 1);
	}
	return unused;
}

/* All told records in order, and perhaps the one in which the thread was cancelled. */
static enum outcome check_cancelled(void)
{
	int next[CANCELLATIONS + 1] = {0};
	FILE *left = fopen(FIRST, "r");
	char record[RECORD_OF_TURN + 1] = "";
	int thread, number;

	while (fread(record, RECORD_OF_TURN, 1, left) == 1) {
		CHECK(sscanf(record, "%d %d", &thread, &number) == 2 && record[19] == '\n');
		CHECK(thread >= 0 && thread <= CANCELLATIONS);
		if (next[thread] != number)
			note("'%.19s' where %d was to come", record, next[thread]);
		CHECK(next[thread]++ == number);
	}
	fclose(left);
	for (int i = 0; i <= CANCELLATIONS; i++) {
		int told = atomic_load(&cancelled.told[i]);

		if (next[i] < told || next[i] > told + 1)
			note("thread %d: %d of %d records", i, next[i], told);
		CHECK(next[i] >= told && next[i] <= told + 1);
	}
	return PASSED;
}

static enum outcome cancel_all(void)
{
	pthread_t thread;
	void *result;

	for (intptr_t i = 0; i < CANCELLATIONS; i++) {
		CHECK(pthread_create(&thread, NULL, write_until_cancelled, (void *)i) == 0);
		sleep_for(100 * NS_PER_US + i * 7919 % 900 * NS_PER_US);
		CHECK(pthread_cancel(thread) == 0);
		CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	}
	return PASSED;
}

static enum outcome cancel_some(void)
{
	pthread_t other;

	for (int i = 0; i <= CANCELLATIONS; i++)
		atomic_store(&cancelled.told[i], 0);
	atomic_store(&cancelled.over, 0);
	cancelled.file = open_first(0);
	CHECK(pthread_create(&other, NULL, write_beside, NULL) == 0);
	CHECK(cancel_all() == PASSED);
	atomic_store(&cancelled.over, 1);
	pthread_join(other, NULL);
	CHECK(check_cancelled() == PASSED);
	close(cancelled.file);
	return PASSED;
}

/* Threads that take turns leave the descriptor's slot with up to this much patience. */
#define PATIENCE (KADAPT_PATIENCE_MAX + 1)

/* The library still gets rings. */
static enum outcome cancel_beside(const struct calls *calls, int type)
{
	uint64_t before;
	int file;

	cancelled.calls = calls;
	cancelled.type = type;
	for (int i = 0; i < FILES; i++)
		CHECK(cancel_some() == PASSED);
	before = appends();
	file = open_first(0);
	for (int i = 0; i < PATIENCE + 1000; i++)
		CHECK(write_numbered(calls, file, 'm', i) == 0);
	if (calls == &adapted_calls)
		CHECK(appends() - before > 900);
	return PASSED;
}

static enum outcome cancel_deferred(const struct calls *calls)
{
	return cancel_beside(calls, PTHREAD_CANCEL_DEFERRED);
}

static enum outcome cancel_anywhere(const struct calls *calls)
{
	return cancel_beside(calls, PTHREAD_CANCEL_ASYNCHRONOUS);
}

static enum outcome test_cancel(void)
{
	return with_both(cancel_deferred);
}

static enum outcome test_cancel_anywhere(void)
{
	return with_both(cancel_anywhere);
}

/* ---- threads that come and go ----------------------------------------------------------- */

#define GENERATIONS 200

struct share {
	const struct calls *calls;
	int file;
	int begin;
};

static void *write_share(void *argument)
{
	const struct share *share = argument;

	for (int i = 0; i < 50; i++)
		if (write_numbered(share->calls, share->file, 't', share->begin + i))
			abort();
	return NULL;
}

/* More threads than rings, one after the other. The main thread writes in between. */
static enum outcome come_and_go(const struct calls *calls)
{
	struct share share = {.calls = calls, .file = open_first(0)};
	pthread_t thread;

	for (int i = 0; i < GENERATIONS; i++) {
		share.begin = 50 * i;
		CHECK(pthread_create(&thread, NULL, write_share, &share) == 0);
		pthread_join(thread, NULL);
		write_share(&share);
	}
	return PASSED;
}

static enum outcome test_generations(void)
{
	return twice(come_and_go, GENERATIONS * 50);
}

#define PAGE 4096
#define OWNERS 64

static char *page;
static sem_t is_in_the_midst, may_go_on, may_end;

static void wait_in_the_midst(int unused)
{
	(void)unused;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(page, "midst67890", RECORD_BYTES);
	sem_post(&is_in_the_midst);
	sem_wait(&may_go_on);
}

static void *write_record(void *file)
{
	for (int i = 0; i < 3; i++)
		if (kadapt_write(*(int *)file, RECORD, RECORD_BYTES) != RECORD_BYTES)
			abort();
	return NULL;
}

/* The thread pointer is that of a dead thread, which has left a ring for the same file. */
static void *write_page(void *file)
{
	write_record(file);
	if (kadapt_write(*(int *)file, page, RECORD_BYTES) != RECORD_BYTES)
		abort();
	return NULL;
}

static void *own_a_ring(void *sink)
{
	sink_open(sink);
	write_record(&((struct sink *)sink)->writer);
	sem_post(&is_in_the_midst);
	sem_wait(&may_end);
	return NULL;
}

/* Every other ring has an owner, so the next thread takes the ring in question. */
static void own_other_rings(void)
{
	static struct sink sinks[OWNERS];
	static pthread_t owners[OWNERS];

	for (int i = 0; i < OWNERS; i++) {
		if (pthread_create(&owners[i], NULL, own_a_ring, &sinks[i]))
			abort();
		sem_wait(&is_in_the_midst);
	}
}

static enum outcome check_text(const struct sink *sink, const char *expected)
{
	char text[100] = "";

	CHECK(pread(sink->writer, text, sizeof(text) - 1, 0) >= 0);
	if (strcmp(text, expected))
		note("'%s', not '%s'", text, expected);
	CHECK(!strcmp(text, expected));
	return PASSED;
}

static enum outcome test_heir(void)
{
	struct sink sink, other;
	pthread_t thread;

	sem_init(&is_in_the_midst, 0, 0);
	sem_init(&may_go_on, 0, 0);
	sem_init(&may_end, 0, 0);
	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0 && sink_open(&other) == 0);
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, wait_in_the_midst);
	CHECK(pthread_create(&thread, NULL, write_record, &sink.writer) == 0);
	pthread_join(thread, NULL);
	CHECK(pthread_create(&thread, NULL, write_page, &sink.writer) == 0);
	sem_wait(&is_in_the_midst);
	own_other_rings();
	/* Asking for the position unbinds the ring. */
	CHECK(lseek(sink.writer, 0, SEEK_CUR) == 6 * RECORD_BYTES);
	write_record(&other.writer);
	sem_post(&may_go_on);
	pthread_join(thread, NULL);
	CHECK(check_text(&other, RECORD RECORD RECORD) == PASSED);
	CHECK(check_text(&sink, RECORD RECORD RECORD RECORD RECORD RECORD "midst67890") == PASSED);
	sem_post(&may_end);
	return PASSED;
}

const struct test_case thread_cases[] = {
    {"thread_rotation", "another thread's dup2() over the descriptor, 40 times", test_rotation},
    {"thread_cancel", "a writing thread is cancelled, 300 times", test_cancel},
    {"thread_cancel_anywhere", "at any instruction", test_cancel_anywhere},
    {"thread_generations", "200 threads one after the other", test_generations},
    {"thread_heir", "a ring that changes hands while one is inside", test_heir},
    {0},
};
