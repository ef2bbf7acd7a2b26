// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the counters of phases in which a known number of events happens. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "neighbour.h"

static struct kadapt_counters counters(int device, uint32_t phase, uint32_t flags)
{
	struct kadapt_counters counters = {.phase = phase, .flags = flags};

	if (ioctl(device, KADAPT_COUNTERS, &counters))
		counters.entries = UINT64_MAX;
	return counters;
}

static enum outcome test_entries(void)
{
	int device = open_device();

	CHECK(define(device, 0, 0) == 0 && define(device, 1, 0) == 0);
	CHECK(counters(device, 0, 0).entries == 0);
	CHECK(enter(device, 0) == 0);
	CHECK(counters(device, 0, 0).entries == 1);
	/* Entering the present phase does nothing. */
	CHECK(enter(device, 0) == 0);
	CHECK(counters(device, 0, 0).entries == 1);
	for (int i = 0; i < 10; i++)
		CHECK(enter(device, 1) == 0 && enter(device, 0) == 0);
	CHECK(leave(device) == 0);
	CHECK(counters(device, 0, 0).entries == 11);
	CHECK(counters(device, 1, 0).entries == 10);
	return PASSED;
}

static enum outcome test_time(void)
{
	int device = open_device();
	struct kadapt_counters running, ended, later;
	int64_t begin, end;

	CHECK(define(device, 0, 0) == 0);
	begin = now();
	CHECK(enter(device, 0) == 0);
	sleep_for(50 * NS_PER_MS);
	running = counters(device, 0, 0);
	CHECK(leave(device) == 0);
	end = now();
	ended = counters(device, 0, 0);
	sleep_for(10 * NS_PER_MS);
	later = counters(device, 0, 0);
	CHECK(running.time_ns >= 50 * NS_PER_MS);
	CHECK(ended.time_ns >= running.time_ns && ended.time_ns <= (uint64_t)(end - begin));
	CHECK(later.time_ns == ended.time_ns);
	return PASSED;
}

static enum outcome test_voluntary(void)
{
	int device = open_device();

	CHECK(define(device, 0, 0) == 0);
	sleep_for(NS_PER_MS);
	CHECK(enter(device, 0) == 0);
	for (int i = 0; i < 20; i++)
		sleep_for(NS_PER_MS);
	CHECK(leave(device) == 0);
	sleep_for(NS_PER_MS);
	CHECK(counters(device, 0, 0).voluntary_switches == 20);
	return PASSED;
}

static enum outcome test_involuntary(void)
{
	int device = open_device();
	struct neighbour *neighbour = neighbour_start(NULL);

	CHECK(neighbour);
	CHECK(define(device, 0, 0) == 0);
	CHECK(enter(device, 0) == 0);
	spin_for(100 * tick());
	CHECK(leave(device) == 0);
	neighbour_stop(neighbour);
	note("%llu switches in 100 ticks",
	     (unsigned long long)counters(device, 0, 0).involuntary_switches);
	CHECK(counters(device, 0, 0).involuntary_switches >= 5);
	return PASSED;
}

#define FAULTS 100

/* Each page of fresh memory causes one fault. In the second round nothing else faults. */
static enum outcome test_faults(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int device = open_device();
	struct kadapt_counters before, after;

	CHECK(define(device, 0, 0) == 0 && enter(device, 0) == 0);
	/* Twice: the first round makes the code's own pages present. */
	for (int round = 0; round < 2; round++) {
		char *memory = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(memory != MAP_FAILED);
		madvise(memory, FAULTS * page, MADV_NOHUGEPAGE);
		before = counters(device, 0, 0);
		for (int i = 0; i < FAULTS; i++)
			memory[i * page] = 1;
		after = counters(device, 0, 0);
	}
	CHECK(after.minor_faults - before.minor_faults == FAULTS);
	CHECK(after.major_faults == before.major_faults);
	CHECK(after.populated_bytes == 0);
	CHECK(leave(device) == 0);
	CHECK(counters(device, 0, KADAPT_COUNTERS_PROCESS).minor_faults >= after.minor_faults);
	return PASSED;
}

static void *three_entries(void *argument)
{
	int device = *(int *)argument;

	for (int i = 0; i < 3; i++) {
		enter(device, 0);
		leave(device);
	}
	/* The last stay ends with the thread. */
	enter(device, 0);
	return NULL;
}

static enum outcome test_process(void)
{
	int device = open_device();
	pthread_t thread;

	CHECK(define(device, 0, 0) == 0);
	CHECK(pthread_create(&thread, NULL, three_entries, &device) == 0);
	CHECK(enter(device, 0) == 0);
	pthread_join(thread, NULL);
	CHECK(counters(device, 0, 0).entries == 1);
	/* The kernel may still be ending a joined thread. */
	for (int i = 0; i < 100; i++)
		if (counters(device, 0, KADAPT_COUNTERS_PROCESS).entries != 5)
			sleep_for(NS_PER_MS);
	CHECK(counters(device, 0, KADAPT_COUNTERS_PROCESS).entries == 5);
	return PASSED;
}

const struct test_case counter_cases[] = {
    {"counters_entries", "entries of two alternating phases", test_entries},
    {"counters_time", "time of a phase that sleeps 50 ms", test_time},
    {"counters_voluntary", "20 sleeps are 20 voluntary switches", test_voluntary},
    {"counters_involuntary", "a neighbour causes involuntary switches", test_involuntary},
    {"counters_faults", "pages of fresh memory are minor faults", test_faults},
    {"counters_process", "the process's sum holds a dead thread's part", test_process},
    {0},
};
