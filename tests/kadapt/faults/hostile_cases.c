// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that does its worst while the driver works on its rings: threads scribble over the
 * headers, tails above all, and others drain, bind, unbind, unmap, make, close and fork. It ends in
 * one of three ways. What is asked is that it does end, and that the kernel complains of nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"
#include "records.h"
#include "append.h"
#include "targets.h"

#define RINGS BINDABLE
#define SCRIBBLERS 2
#define ROUND_NS (100 * NS_PER_MS)
#define SCRIBBLES_PER_TURN 2048
#define MOST_BYTES 65536
#define DRAINS_PER_BINDING 64

static struct {
	int device;
	struct test_ring rings[RINGS];
	struct targets targets;
	_Atomic uint64_t drains, bindings;
	_Atomic bool over;
} battle;

/*
 * A value that a check would pass and one that it would not, in turn, each for as long: whoever
 * reads a tail a second time after the check finds the other one time in two.
 */
static void *scribble_tails(void *argument)
{
	uint64_t thrown = (uintptr_t)argument;

	while (!atomic_load(&battle.over)) {
		struct test_ring *ring = &battle.rings[dice_below(&thrown, RINGS)];
		volatile struct kadapt_ring_header *header = ring->header;
		uint64_t some = 1 + dice_below(&thrown, ring->shape.bytes);
		uint64_t much = ring->shape.bytes << dice_below(&thrown, 40);

		for (int i = 0; i < SCRIBBLES_PER_TURN; i++) {
			uint64_t near = header->head + some;

			header->tail = near;
			header->tail = near + much;
		}
		header->tail = header->head + some;
	}
	return NULL;
}

static void *scribble_all(void *argument)
{
	uint64_t thrown = (uintptr_t)argument;

	while (!atomic_load(&battle.over)) {
		struct test_ring *ring = &battle.rings[dice_below(&thrown, RINGS)];
		volatile uint64_t *words = (volatile uint64_t *)ring->header;

		words[dice_below(&thrown, sizeof(*ring->header) / sizeof(*words))] =
		    dice(&thrown) >> dice_below(&thrown, 64);
	}
	return NULL;
}

/* Mostly to what it was bound to before, so that there is something to drain. */
static void bind_and_drain(uint64_t *thrown)
{
	uint64_t number = dice_below(thrown, RINGS);
	uint64_t target = dice_below(thrown, 8) ? number : dice_below(thrown, TARGETS);
	struct test_ring *ring = &battle.rings[number];

	if (ring_bind_with(ring, battle.targets.descriptors[target],
			   dice_below(thrown, 8) ? 0 : KADAPT_BIND_STRICT, 0) == 0)
		atomic_fetch_add(&battle.bindings, 1);
	for (int i = 0; i < DRAINS_PER_BINDING; i++)
		if (ring_drain(ring, KADAPT_DRAIN_NOSIGNAL) == 0)
			atomic_fetch_add(&battle.drains, 1);
		else if (errno == ENOLINK || errno == EINVAL)
			break;
}

/* One ring less, and one more. */
static void make_another(uint64_t *thrown)
{
	struct kadapt_ring made = {.bytes = MOST_BYTES >> dice_below(thrown, 5)};
	void *map;

	if (ioctl(battle.device, KADAPT_RING, &made))
		return;
	map = mmap(NULL, made.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, battle.device,
		   (off_t)made.map_offset);
	if (map == MAP_FAILED)
		return;
	ring_bind(&(struct test_ring){.device = battle.device, .shape = made},
		  battle.targets.descriptors[dice_below(thrown, BINDABLE)]);
	((struct kadapt_ring_header *)map)->tail = dice_below(thrown, made.bytes);
	munmap(map, made.map_bytes);
}

/*
 * Nobody is killed in the middle of a fork: User-Mode Linux 6.12 panics when a fork ends so, device
 * or no device (flush_tlb_mm() meets the mark that dup_mmap() leaves where it was interrupted).
 */
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;

static void fork_one(void)
{
	pid_t pid;

	pthread_mutex_lock(&forking);
	pid = fork();
	pthread_mutex_unlock(&forking);

	if (pid == 0)
		_exit(ring_drain(&battle.rings[0], 0) ? 0 : 1);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void act(uint64_t *thrown)
{
	uint32_t ring = battle.rings[dice_below(thrown, RINGS)].shape.number;

	switch (dice_below(thrown, 64)) {
	case 0:
		fork_one();
		break;
	case 1 ... 4:
		make_another(thrown);
		break;
	case 5 ... 8:
		ioctl(battle.device, KADAPT_UNBIND, ring);
		break;
	case 9 ... 12:
		targets_empty(&battle.targets);
		break;
	case 13:
		/* Another descriptor of the device: what it undoes is asked for while all works. */
		close(dup(battle.device));
		break;
	default:
		bind_and_drain(thrown);
	}
}

static void *act_on(void *argument)
{
	uint64_t thrown = (uintptr_t)argument;

	while (!atomic_load(&battle.over))
		act(&thrown);
	return NULL;
}

static void open_all(uint64_t seed)
{
	uint64_t thrown = seed;

	battle.device = open_device();
	if (battle.device < 0 || targets_open(&battle.targets))
		_exit(FAILED);
	for (int i = 0; i < RINGS; i++)
		if (ring_make(&battle.rings[i], battle.device,
			      KADAPT_RING_MIN << dice_below(&thrown, 4)))
			_exit(FAILED);
}

static void start_threads(uint64_t seed)
{
	pthread_t thread;

	for (uint64_t i = 0; i < SCRIBBLERS; i++)
		if (pthread_create(&thread, NULL, i ? scribble_all : scribble_tails,
				   (void *)(seed + i)))
			_exit(FAILED);
	for (uint64_t i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, act_on, (void *)(seed + 10 + i)))
			_exit(FAILED);
}

/* With everything still going on. */
static void end(uint64_t seed)
{
	pthread_mutex_lock(&forking);
	switch (seed % 3) {
	case 0:
		kill(getpid(), SIGKILL);
		break;
	case 1:
		close(battle.device);
		sleep_for(NS_PER_MS);
		break;
	}
	_exit(PASSED);
}

static bool fight(uint64_t seed, _Atomic uint64_t *drains, _Atomic uint64_t *bindings)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		open_all(seed);
		start_threads(seed);
		sleep_for(ROUND_NS);
		atomic_fetch_add(drains, atomic_load(&battle.drains));
		atomic_fetch_add(bindings, atomic_load(&battle.bindings));
		end(seed);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	return status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static enum outcome scribble(void)
{
	_Atomic uint64_t *totals = shared_memory(2 * sizeof(*totals));

	alarm(0);
	CHECK(totals);
	signal(SIGPIPE, SIG_IGN);
	for (uint64_t i = 0; i < setting.rounds; i++)
		CHECK(fight(setting.seed * 1009 + i, &totals[0], &totals[1]));
	note("%lu drains and %lu bindings succeeded meanwhile", (unsigned long)totals[0],
	     (unsigned long)totals[1]);
	CHECK(totals[0] && totals[1]);
	return PASSED;
}

const struct test_case hostile_cases[] = {
    {"hostile", "threads scribble over the headers of rings that are in use", scribble},
    {0},
};
