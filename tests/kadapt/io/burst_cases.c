// SPDX-License-Identifier: GPL-2.0-or-later
/* When the library binds, told by its own counters. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "io_count.h"
#include "libkadapt.h"
#include "sink.h"

static struct kadapt_io_totals totals(void)
{
	struct kadapt_io_totals now;

	kadapt_io_count(&now);
	return now;
}

static enum outcome write_records(int descriptor, int count)
{
	for (int i = 0; i < count; i++)
		CHECK(kadapt_write(descriptor, RECORD, RECORD_BYTES) == RECORD_BYTES);
	return PASSED;
}

static enum outcome burst_into(enum sink_kind kind)
{
	struct kadapt_io_totals before, after;
	struct sink sink;

	CHECK(sink_open(&sink, kind) == 0);
	before = totals();
	CHECK(write_records(sink.writer, 100) == PASSED);
	after = totals();
	note("%s: %d appends, %d binds, %d plain", sink_names[kind],
	     (int)(after.appends - before.appends), (int)(after.binds - before.binds),
	     (int)(after.plain - before.plain));
	CHECK(after.appends - before.appends == 99);
	CHECK(after.bytes - before.bytes == 99 * RECORD_BYTES);
	CHECK(after.binds - before.binds == 1);
	CHECK(after.plain - before.plain == 1);
	sink_close(&sink);
	return PASSED;
}

static enum outcome test_binds(void)
{
	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	for (int kind = 0; kind < SINK_KINDS; kind++)
		CHECK(burst_into((enum sink_kind)kind) == PASSED);
	return PASSED;
}

/* Answer each byte by one. */
static void *answer(void *argument)
{
	const int *ends = argument;
	char byte;

	while (recv(ends[1], &byte, 1, 0) == 1)
		if (send(ends[1], &byte, 1, 0) != 1)
			break;
	return NULL;
}

#define EXCHANGES 1000

/* One socket for both ways: there is never a second record in a row. */
static enum outcome test_ping_pong(void)
{
	struct kadapt_io_totals before, after;
	pthread_t thread;
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pthread_create(&thread, NULL, answer, ends);
	before = totals();
	for (int i = 0; i < EXCHANGES; i++) {
		CHECK(kadapt_send(ends[0], "x", 1, 0) == 1);
		CHECK(recv(ends[0], &(char){0}, 1, 0) == 1);
	}
	after = totals();
	CHECK(after.binds == before.binds);
	CHECK(after.plain - before.plain == EXCHANGES);
	close(ends[0]);
	pthread_join(thread, NULL);
	return PASSED;
}

static void *echo(void *argument)
{
	const int *ends = argument;
	char byte;

	while (read(ends[0], &byte, 1) == 1)
		if (write(ends[1], &byte, 1) != 1)
			break;
	return NULL;
}

/* A pipe for each way: the library tries, and tries more and more seldom. */
static enum outcome test_two_pipes(void)
{
	struct kadapt_io_totals before, after;
	int there[2], back[2], ends[2];
	pthread_t thread;

	CHECK(pipe(there) == 0 && pipe(back) == 0);
	ends[0] = there[0];
	ends[1] = back[1];
	pthread_create(&thread, NULL, echo, ends);
	before = totals();
	for (int i = 0; i < EXCHANGES; i++) {
		CHECK(kadapt_write(there[1], "x", 1) == 1);
		CHECK(read(back[0], &(char){0}, 1) == 1);
	}
	after = totals();
	note("%d binds, %d drains, %d plain", (int)(after.binds - before.binds),
	     (int)(after.drains - before.drains), (int)(after.plain - before.plain));
	CHECK(after.binds - before.binds <= 12);
	CHECK(after.plain - before.plain >= EXCHANGES - 40);
	close(there[1]);
	pthread_join(thread, NULL);
	return PASSED;
}

/* Nobody can have a lease on a file that is open twice. */
static enum outcome test_refused(void)
{
	struct kadapt_io_totals before, after;
	struct sink sink;
	int other;

	CHECK(sink_open(&sink, SINK_FILE) == 0);
	other = open(sink.path, O_RDONLY);
	CHECK(other >= 0);
	before = totals();
	CHECK(write_records(sink.writer, 1000) == PASSED);
	after = totals();
	CHECK(after.appends == before.appends);
	CHECK(after.binds - before.binds <= 8);
	CHECK(sink_arrived(&sink) == 1000 * RECORD_BYTES);
	sink_close(&sink);
	return PASSED;
}

/* After the kernel let go, the next burst is bound anew. */
static enum outcome test_next_burst(void)
{
	struct kadapt_io_totals before, after;
	struct sink sink;

	CHECK(sink_open(&sink, SINK_FILE) == 0);
	before = totals();
	CHECK(write_records(sink.writer, 100) == PASSED);
	sleep_for(200 * NS_PER_MS);
	CHECK(sink_arrived(&sink) == 100 * RECORD_BYTES);
	CHECK(write_records(sink.writer, 100) == PASSED);
	after = totals();
	note("%d appends, %d binds, %d plain", (int)(after.appends - before.appends),
	     (int)(after.binds - before.binds), (int)(after.plain - before.plain));
	CHECK(after.binds - before.binds == 2);
	CHECK(after.appends - before.appends == 2 * 99);
	sink_close(&sink);
	return PASSED;
}

static enum outcome test_many(void)
{
	struct kadapt_io_totals before = totals(), after;
	struct sink sinks[100];

	for (int i = 0; i < 100; i++) {
		CHECK(sink_open(&sinks[i], SINK_FILE) == 0);
		CHECK(write_records(sinks[i].writer, 10) == PASSED);
	}
	after = totals();
	note("%d bindings for 100 files", (int)(after.binds - before.binds));
	CHECK(after.appends - before.appends >= 60 * 9);
	for (int i = 0; i < 100; i++) {
		fsync(sinks[i].writer);
		CHECK(sink_arrived(&sinks[i]) == 10 * RECORD_BYTES);
		sink_close(&sinks[i]);
	}
	return PASSED;
}

/* In sequence pwrite() has a ring; out of it, it does not. */
static enum outcome test_pwrite(void)
{
	struct kadapt_io_totals before, after;
	char text[64] = {0};
	struct sink sink;

	CHECK(sink_open(&sink, SINK_FILE) == 0);
	before = totals();
	for (int i = 0; i < 10; i++)
		CHECK(kadapt_pwrite(sink.writer, RECORD, 4, 4 * i) == 4);
	CHECK(totals().appends - before.appends >= 8);
	CHECK(kadapt_pwrite(sink.writer, "there", 5, 50) == 5);
	CHECK(kadapt_pwrite(sink.writer, "back", 4, 0) == 4);
	after = totals();
	CHECK(pread(sink.writer, text, sizeof(text), 0) == 55);
	CHECK(!memcmp(text, "back012301230123", 16) && !memcmp(text + 50, "there", 5));
	CHECK(lseek(sink.writer, 0, SEEK_CUR) == 0);
	CHECK(after.plain - before.plain <= 4);
	sink_close(&sink);
	return PASSED;
}

const struct test_case burst_cases[] = {
    {"burst_binds", "the second record of a burst binds, the others go in", test_binds},
    {"burst_ping_pong", "request and reply on one socket stay plain", test_ping_pong},
    {"burst_two_pipes", "request and reply by two pipes become plain", test_two_pipes},
    {"burst_refused", "what the kernel refuses is asked for ever more seldom", test_refused},
    {"burst_next", "a burst after a pause", test_next_burst},
    {"burst_many", "more files than rings", test_many},
    {"burst_pwrite", "pwrite() in sequence, and out of it", test_pwrite},
    {0},
};
