// SPDX-License-Identifier: GPL-2.0-or-later
/* When the library binds a ring. The library's counters tell. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "ends.h"
#include "base/optional.h"
#include "libkadapt.h"
#include "sink.h"
#include "trials/offers.h"

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

static enum outcome test_binds(void)
{
	struct kadapt_io_totals before, after;
	struct sink sink;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0);
	before = totals();
	CHECK(write_records(sink.writer, 100) == PASSED);
	after = totals();
	note("%d appends, %d binds, %d plain", (int)(after.appends - before.appends),
	     (int)(after.binds - before.binds), (int)(after.plain - before.plain));
	CHECK(after.appends - before.appends == 99);
	CHECK(after.bytes - before.bytes == 99 * RECORD_BYTES);
	CHECK(after.binds - before.binds == 1);
	CHECK(after.plain - before.plain == 1);
	sink_close(&sink);
	return PASSED;
}

/* Trials ask whether rings did anything in a visit: also if the ring was bound before. */
static enum outcome test_activity(void)
{
	struct sink sink;
	uint64_t before;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0);
	CHECK(write_records(sink.writer, 2) == PASSED);
	before = kadapt_activity(KADAPT_TRIED_RINGS);
	CHECK(write_records(sink.writer, 5) == PASSED);
	CHECK(kadapt_activity(KADAPT_TRIED_RINGS) - before == 5);
	sink_close(&sink);
	return PASSED;
}

static enum outcome test_pieces(void)
{
	const struct iovec pieces[] = {{(void *)"0123", 4}, {(void *)"", 0}, {(void *)"456789", 6}};
	uint64_t before = appends();
	struct sink sink;

	CHECK(sink_open(&sink) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(kadapt_writev(sink.writer, pieces + i % 2, 3 - i % 2) == 10 - i % 2 * 4);
	CHECK(appends() - before >= 98);
	CHECK(sink_arrived(&sink) == 800);
	sink_close(&sink);
	return PASSED;
}

/* The library writes plainly to other files, and tries to bind them ever more rarely. */
static enum outcome test_others(void)
{
	struct kadapt_io_totals before = totals(), after;
	char record[RECORD_BYTES];
	int ends[2];

	for (int kind = 0; kind < ENDS_KINDS; kind++) {
		CHECK(ends_open(ends, (enum ends_kind)kind) == 0);
		for (int i = 0; i < 1000; i++) {
			CHECK(kadapt_write(ends[1], RECORD, RECORD_BYTES) == RECORD_BYTES);
			CHECK(read(ends[0], record, RECORD_BYTES) == RECORD_BYTES);
			CHECK(!memcmp(record, RECORD, RECORD_BYTES));
		}
		close(ends[0]);
		close(ends[1]);
	}
	after = totals();
	CHECK(after.appends == before.appends);
	CHECK(after.binds - before.binds <= 3 * 10);
	return PASSED;
}

/* A program that reads its records back makes plain calls. */
static enum outcome test_read_back(void)
{
	struct kadapt_io_totals before = totals(), after;
	char record[RECORD_BYTES];
	struct sink sink;

	CHECK(sink_open(&sink) == 0);
	for (int i = 0; i < 1000; i++) {
		CHECK(kadapt_write(sink.writer, RECORD, RECORD_BYTES) == RECORD_BYTES);
		CHECK(pread(sink.writer, record, RECORD_BYTES, i * RECORD_BYTES) == RECORD_BYTES);
		CHECK(!memcmp(record, RECORD, RECORD_BYTES));
	}
	after = totals();
	note("%d binds, %d plain", (int)(after.binds - before.binds),
	     (int)(after.plain - before.plain));
	CHECK(after.binds - before.binds <= 12);
	CHECK(after.plain - before.plain >= 980);
	sink_close(&sink);
	return PASSED;
}

/* There is no lease on a file that is open twice. */
static enum outcome test_refused(void)
{
	struct kadapt_io_totals before, after;
	struct sink sink;
	int other;

	CHECK(sink_open(&sink) == 0);
	other = open(sink.path, O_RDONLY);
	CHECK(other >= 0);
	before = totals();
	CHECK(write_records(sink.writer, 1000) == PASSED);
	after = totals();
	CHECK(after.appends == before.appends);
	/* It tries at the 2nd, 4th, 8th ... 512th record. */
	CHECK(after.binds - before.binds == 9);
	CHECK(sink_arrived(&sink) == 1000 * RECORD_BYTES);
	sink_close(&sink);
	return PASSED;
}

/* After the kernel has unbound the ring, the next burst binds a ring again. */
static enum outcome test_next_burst(void)
{
	struct kadapt_io_totals before, after;
	struct sink sink;

	CHECK(sink_open(&sink) == 0);
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
		CHECK(sink_open(&sinks[i]) == 0);
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

const struct test_case burst_cases[] = {
    {"burst_binds", "the second record of a burst binds, the others go in", test_binds},
    {"burst_activity", "records that go into a bound ring are activity", test_activity},
    {"burst_pieces", "writev() of one piece, and of several", test_pieces},
    {"burst_others", "pipes and sockets are written to as they are", test_others},
    {"burst_read_back", "a record that is read back at once stays plain", test_read_back},
    {"burst_refused", "what the kernel refuses is asked for ever more seldom", test_refused},
    {"burst_next", "a burst after a pause", test_next_burst},
    {"burst_many", "more files than rings", test_many},
    {0},
};
