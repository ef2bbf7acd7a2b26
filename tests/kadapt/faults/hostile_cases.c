// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile program. Some threads overwrite the headers of its rings, above all the tails. Other
 * threads drain, bind, unbind, unmap, create and close rings, and fork.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "battle.h"
#include "device.h"
#include "faults.h"
#include "records.h"
#include "ring.h"
#include "targets.h"

#define RINGS BINDABLE
#define SCRIBBLES_PER_TURN 2048
/* Another processor sees only the second of two consecutive stores. So pause in between. */
#define LONGEST_LINGERING 64
#define MOST_BYTES 65536
#define SIZES 5
#define DRAINS_PER_BINDING 64

enum { DRAINS, BINDINGS };

static struct {
	int device;
	struct test_ring rings[RINGS];
	struct targets targets;
} prey;

/*
 * A valid and an invalid value in turn, each for the same time. So a driver that reads a tail again
 * after checking it finds the other value half of the time.
 */
static void scribble_tails(uint64_t *thrown)
{
	struct test_ring *ring = &prey.rings[dice_below(thrown, RINGS)];
	volatile struct kadapt_ring_header *header = ring->header;
	uint64_t some = 1 + dice_below(thrown, ring->shape.bytes);
	uint64_t much = ring->shape.bytes << dice_below(thrown, 40);
	uint64_t closed = dice_below(thrown, 4) ? 0 : KADAPT_RING_CLOSED;

	for (int i = 0; i < SCRIBBLES_PER_TURN; i++) {
		uint64_t near = header->head + some;

		header->tail = near | closed;
		dice_spin(thrown, LONGEST_LINGERING);
		header->tail = near + much;
		dice_spin(thrown, LONGEST_LINGERING);
	}
	header->tail = header->head + some;
}

static void scribble_all(uint64_t *thrown)
{
	struct test_ring *ring = &prey.rings[dice_below(thrown, RINGS)];
	volatile uint64_t *words = (volatile uint64_t *)ring->header;

	words[dice_below(thrown, sizeof(*ring->header) / sizeof(*words))] =
	    dice(thrown) >> dice_below(thrown, 64);
}

/* Usually to the file of the binding before, so that there is something to drain. */
static void bind_and_drain(uint64_t *thrown)
{
	uint64_t number = dice_below(thrown, RINGS);
	uint64_t target = dice_below(thrown, 8) ? number : dice_below(thrown, TARGETS);
	struct test_ring *ring = &prey.rings[number];

	if (ring_bind(ring, prey.targets.descriptors[target]) == 0)
		battle_count(BINDINGS);
	for (int i = 0; i < DRAINS_PER_BINDING; i++)
		if (ring_drain(ring) == 0)
			battle_count(DRAINS);
		else if (errno == ENOLINK || errno == EINVAL)
			break;
}

/* Removes a ring and creates another. */
static void make_another(uint64_t *thrown)
{
	struct kadapt_new_ring made = {.bytes = MOST_BYTES >> dice_below(thrown, SIZES)};
	void *map;

	if (ioctl(prey.device, KADAPT_RING, &made))
		return;
	map = mmap(NULL, made.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, prey.device,
		   (off_t)made.map_offset);
	if (map == MAP_FAILED)
		return;
	ring_bind(&(struct test_ring){.device = prey.device, .shape = made},
		  prey.targets.descriptors[dice_below(thrown, BINDABLE)]);
	((struct kadapt_ring_header *)map)->tail = dice_below(thrown, made.bytes);
	munmap(map, made.map_bytes);
}

/* Maps and unmaps a ring, which another thread may be creating, and so ends it. */
static void end_anothers(uint64_t *thrown)
{
	uint64_t bytes = MOST_BYTES >> dice_below(thrown, SIZES),
		 number = RINGS + dice_below(thrown, 2);
	size_t map_bytes = PAGE + 2 * bytes;
	void *memory =
	    mmap(NULL, map_bytes, PROT_READ, MAP_SHARED, prey.device, (off_t)(number << MAP_SHIFT));

	if (memory != MAP_FAILED)
		munmap(memory, map_bytes);
}

static void drain_anothers(void)
{
	ring_drain(&prey.rings[0]);
}

static void act(uint64_t *thrown)
{
	uint32_t ring = prey.rings[dice_below(thrown, RINGS)].shape.number;

	switch (dice_below(thrown, 64)) {
	case 0:
		battle_fork(drain_anothers);
		break;
	case 1 ... 4:
		make_another(thrown);
		break;
	case 5 ... 8:
		ioctl(prey.device, KADAPT_UNBIND, ring);
		break;
	case 9 ... 12:
		targets_empty(&prey.targets);
		break;
	case 14 ... 17:
		end_anothers(thrown);
		break;
	case 13:
		/* Closes another descriptor of the device while all threads work. */
		close(dup(prey.device));
		break;
	default:
		bind_and_drain(thrown);
	}
}

static int begin(uint64_t seed)
{
	uint64_t thrown = seed;

	prey.device = open_device();
	if (prey.device < 0 || targets_open(&prey.targets))
		return -1;
	for (int i = 0; i < RINGS; i++)
		if (ring_make(&prey.rings[i], prey.device,
			      KADAPT_RING_MIN << dice_below(&thrown, 4)))
			return -1;
	return prey.device;
}

static enum outcome scribble(void)
{
	const struct battle battle = {
	    .begin = begin,
	    .threads = {scribble_tails, scribble_all, act, act},
	    .totals = {[DRAINS] = "drains succeeded", [BINDINGS] = "bindings succeeded"},
	};

	return battle_fight(&battle);
}

const struct test_case hostile_cases[] = {
    {"hostile", "threads scribble over the headers of rings that are in use", scribble},
    {0},
};
