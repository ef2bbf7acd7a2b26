// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A handler leaves a write by siglongjmp(), at any instruction at which a timer interrupts it.
 * Another thread writes to the same descriptor all the time. Later writes must work, and an
 * interrupted record must be in the file once or not at all.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "ring/burst.h"
#include "twice.h"

#define JUMPS 2000
#define RECORDS_MAX (1 << 22)

static struct {
	const struct calls *calls;
	int file;
	FILE *stream;
	sigjmp_buf back;
	volatile sig_atomic_t may_jump;
	volatile int jumps;
	_Atomic int over;
	int other_count;
	char was_left[RECORDS_MAX];
} jumper;

static void set_timer(void)
{
	const struct itimerval when = {.it_value = {.tv_usec = 20 + rand() % 200}};

	setitimer(ITIMER_REAL, &when, NULL);
}

static void jump(int unused)
{
	(void)unused;
	if (!jumper.may_jump) {
		set_timer();
		return;
	}
	jumper.may_jump = 0;
	siglongjmp(jumper.back, 1);
}

/* The timer's signal goes to the main thread. */
static void *write_beside(void *unused)
{
	int number = 0;

	while (!atomic_load(&jumper.over))
		if (write_numbered(jumper.calls, jumper.file, 'o', number++))
			abort();
	jumper.other_count = number;
	return unused;
}

static pthread_t begin_beside(void)
{
	sigset_t alarm;
	pthread_t thread;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	if (pthread_create(&thread, NULL, write_beside, NULL))
		abort();
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	return thread;
}

/* After a jump, the stream's buffer must not keep a part of the record. */
static void put_into_stream(int number)
{
	char record[NUMBERED_BYTES + 1];

	numbered(record, 'm', number);
	fputs(record, jumper.stream);
	jumper.may_jump = 1;
	if (jumper.calls->flush_unlocked(jumper.stream))
		abort();
	jumper.may_jump = 0;
}

static void put(int number)
{
	char record[NUMBERED_BYTES + 1];

	numbered(record, 'm', number);
	jumper.may_jump = 1;
	if (jumper.calls->write(jumper.file, record, NUMBERED_BYTES) != NUMBERED_BYTES)
		abort();
	jumper.may_jump = 0;
}

/* Writes until this many jumps have happened. Returns the number of begun records. */
static int put_until_thrown(void (*put_one)(int))
{
	static volatile int number;

	signal(SIGALRM, jump);
	if (sigsetjmp(jumper.back, 1)) {
		jumper.jumps++;
		jumper.was_left[number++] = 1;
		if (jumper.stream)
			__fpurge(jumper.stream);
	}
	if (jumper.jumps < JUMPS)
		set_timer();
	while (jumper.jumps < JUMPS && number < RECORDS_MAX - 1) {
		put_one(number);
		number++;
	}
	/* Some more records, without interruption. */
	for (int i = 0; i < 100; i++) {
		put_one(number);
		number++;
	}
	return number;
}

static enum outcome check(int count, int of_other)
{
	FILE *left = fopen(FIRST, "r");
	char record[NUMBERED_BYTES + 1] = "";
	int next = 0, next_of_other = 0, number, lost = 0;
	char tag;

	while (fread(record, NUMBERED_BYTES, 1, left) == 1) {
		CHECK(sscanf(record, "%c %d", &tag, &number) == 2 && record[9] == '\n');
		if (tag == 'o') {
			CHECK(number == next_of_other++);
			continue;
		}
		CHECK(tag == 'm');
		for (; next < number && jumper.was_left[next]; next++)
			lost++;
		if (number != next)
			note("record %d where %d was to come", number, next);
		CHECK(number == next++);
	}
	fclose(left);
	note("%d records, %d of the other thread; %d left, %d of them not there", count, of_other,
	     jumper.jumps, lost);
	CHECK(next == count && next_of_other == of_other);
	CHECK(jumper.jumps == JUMPS);
	return PASSED;
}

static enum outcome jump_out_of(const struct calls *calls, void (*put_one)(int))
{
	pthread_t thread;
	int count;

	jumper.calls = calls;
	thread = begin_beside();
	count = put_until_thrown(put_one);
	atomic_store(&jumper.over, 1);
	pthread_join(thread, NULL);
	return check(count, jumper.other_count);
}

static enum outcome jump_out_of_write(const struct calls *calls)
{
	jumper.file = open_first(0);
	return jump_out_of(calls, put);
}

static enum outcome jump_out_of_flush(const struct calls *calls)
{
	jumper.file = open_first(O_APPEND);
	jumper.stream = fdopen(jumper.file, "a");
	return jump_out_of(calls, put_into_stream);
}

static enum outcome jump_out_of_write_alone(const struct calls *calls)
{
	jumper.calls = calls;
	jumper.file = open_first(0);
	return check(put_until_thrown(put), 0);
}

static enum outcome test_write(void)
{
	return with_both(jump_out_of_write);
}

static enum outcome test_flush(void)
{
	return with_both(jump_out_of_flush);
}

/*
 * The library still gets rings after many jumps. Jumps out of short bursts leave the descriptor's
 * slot with up to this much patience.
 */
#define PATIENCE (KADAPT_PATIENCE_MAX + 1)

static enum outcome go_on_after(const struct calls *calls)
{
	uint64_t before;

	CHECK(jump_out_of_write_alone(calls) == PASSED);
	before = appends();
	for (int i = 0; i < PATIENCE + 1000; i++)
		CHECK(write_numbered(calls, jumper.file, 'm', i) == 0);
	if (calls == &adapted_calls)
		CHECK(appends() - before > 900);
	return PASSED;
}

static enum outcome test_alone(void)
{
	return with_both(go_on_after);
}

const struct test_case jump_cases[] = {
    {"jump_write", "2,000 jumps out of a write, beside another thread's", test_write},
    {"jump_flush", "2,000 jumps out of a flush, beside another thread's", test_flush},
    {"jump_alone", "2,000 jumps out of a write, and rings afterwards", test_alone},
    {0},
};
