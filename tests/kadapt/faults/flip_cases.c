// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tail that flips. A thread with a processor of its own sets the tail to a valid and to an
 * invalid value in turn. Meanwhile the program or the kernel's worker drains the ring. A driver
 * that checks one tail and uses another writes more than any valid tail allows, and the file shows
 * that. KASAN may not complain: the program's drain copies from the program's mapping, which goes
 * on behind the ring.
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
/* Further from any head than the ring is long, also from a head that was read before a drain. */
#define MUCH (4ULL * RING_BYTES)
/* The flipping thread may be one drain behind. */
#define MOST_A_DRAIN (4 * LITTLE)
/* Another processor sees only the second of two consecutive stores. So pause in between. */
#define LONGEST_LINGERING 128
#define BINDINGS_PER_ROUND 10
#define LONGEST_BINDING (50 * NS_PER_MS)
/* After eight of them without a record, the kernel unbinds the ring. */
#define DELAY_NS (100 * NS_PER_US)
#define NAP_NS (50 * NS_PER_US)

static struct {
	struct test_ring ring;
	int file;
	_Atomic bool over;
} flips;

/* The results of one kind of drain. */
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

/* Until the driver meets an invalid tail and unbinds the ring. */
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

/* The file has no more than the valid tails allow. */
static enum outcome bind_once(void (*empty)(void), struct emptied *emptied)
{
	uint64_t bytes = file_bytes(), drains = flips.ring.header->drains;

	if (ring_bind_for(&flips.ring, flips.file, DELAY_NS))
		return FAILED;
	/* With one processor, the other thread has to run first. */
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
