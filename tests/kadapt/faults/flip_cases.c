// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tail that flips. On a processor of its own a thread sets it, in turn, to what a drain takes and
 * to what no drain may take, while the ring is emptied by the program itself or by the kernel's
 * worker. A driver that checks one tail and works by another writes more than any tail that it may
 * believe allows, and that is in the file; whether a checker complains depends on who emptied: the
 * program's drain copies from the program's own mapping, where there is mostly something behind it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"
#include "records.h"
#include "ring.h"

#define RING_BYTES 4096
#define LITTLE 16
/* Further from any head than the ring is long, even by a head that was looked up before a drain. */
#define MUCH (4ULL * RING_BYTES)
/* The flipper may be a drain behind. */
#define MOST_A_DRAIN (4 * LITTLE)
/* Of two stores one after the other another processor only ever meets the second. */
#define LONGEST_LINGERING 128
#define BINDINGS_PER_ROUND 10
#define LONGEST_BINDING (50 * NS_PER_MS)
/* Eight of them without a record, and the ring is let go. */
#define DELAY_NS (100 * NS_PER_US)
#define NAP_NS (50 * NS_PER_US)

static struct {
	struct test_ring ring;
	int file;
	_Atomic bool over;
} flips;

/* What one kind of emptying did. */
struct emptied {
	uint64_t bindings, drains, bytes, refused;
};

static void run_on_others_than(int processor)
{
	cpu_set_t others;

	memset(&others, 0xff, sizeof(others));
	CPU_CLR(processor, &others);
	sched_setaffinity(0, sizeof(others), &others);
}

static void run_on(int processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *flip(void *unused)
{
	volatile struct kadapt_ring_header *header = flips.ring.header;
	uint64_t thrown = setting.seed;

	run_on_others_than(0);
	while (!atomic_load_explicit(&flips.over, memory_order_relaxed)) {
		uint64_t little = header->head + LITTLE;

		header->tail = little;
		dice_spin(&thrown, LONGEST_LINGERING);
		header->tail = little + MUCH;
		dice_spin(&thrown, LONGEST_LINGERING);
	}
	return unused;
}

static int open_file(void)
{
	struct path path = in_directory("flipped");
	int file = open(path.text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	unlink(path.text);
	return file;
}

/* Until a tail was met that is none, whereupon the driver lets go. */
static void empty_by_calls(void)
{
	while (ring_drain(&flips.ring) == 0)
		;
}

static void empty_by_worker(void)
{
	int64_t end = now() + LONGEST_BINDING;

	while (ring_is_bound(&flips.ring) && now() < end)
		sleep_for(NAP_NS);
}

static uint64_t file_bytes(void)
{
	struct stat about;

	return fstat(flips.file, &about) ? 0 : (uint64_t)about.st_size;
}

/* No more is written than the tails that may be believed allow. */
static enum outcome bind_once(void (*empty)(void), struct emptied *emptied)
{
	uint64_t bytes = file_bytes(), drains = flips.ring.header->drains;

	if (ring_bind_for(&flips.ring, flips.file, DELAY_NS))
		return FAILED;
	/* On one processor nothing flips before. */
	sleep_for(NAP_NS);
	empty();
	emptied->refused += !ring_is_bound(&flips.ring);
	ring_unbind(&flips.ring);
	bytes = file_bytes() - bytes;
	drains = flips.ring.header->drains - drains;
	if (bytes > drains * MOST_A_DRAIN)
		note("%lu bytes written by %lu drains of at most %d", (unsigned long)bytes,
		     (unsigned long)drains, MOST_A_DRAIN);
	CHECK(bytes <= drains * MOST_A_DRAIN);
	emptied->bindings++;
	emptied->drains += drains;
	emptied->bytes += bytes;
	return PASSED;
}

static enum outcome bind_often(void (*empty)(void))
{
	struct emptied emptied = {0};

	for (uint64_t i = 0; i < setting.rounds * BINDINGS_PER_ROUND; i++)
		CHECK(bind_once(empty, &emptied) == PASSED);
	note("%lu bindings, %lu drains, %lu bytes; %lu met a tail that is none",
	     (unsigned long)emptied.bindings, (unsigned long)emptied.drains,
	     (unsigned long)emptied.bytes, (unsigned long)emptied.refused);
	CHECK(emptied.bytes && emptied.refused);
	return PASSED;
}

static enum outcome flip_while(void (*empty)(void))
{
	enum outcome outcome;
	pthread_t flipper;

	alarm(0);
	run_on(0);
	flips.file = open_file();
	CHECK(flips.file >= 0);
	CHECK(ring_make(&flips.ring, open_device(), RING_BYTES) == 0);
	CHECK(pthread_create(&flipper, NULL, flip, NULL) == 0);
	outcome = bind_often(empty);
	atomic_store(&flips.over, true);
	pthread_join(flipper, NULL);
	return outcome;
}

static enum outcome flip_calls(void)
{
	return flip_while(empty_by_calls);
}

static enum outcome flip_worker(void)
{
	return flip_while(empty_by_worker);
}

const struct test_case flip_cases[] = {
    {"flip_calls", "a tail flips while the program drains", flip_calls},
    {"flip_worker", "a tail flips while the kernel's worker drains", flip_worker},
    {0},
};
