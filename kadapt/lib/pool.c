// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "append.h"
#include "pool.h"

struct pool_ring {
	struct kadapt_ring_header *header;
	char *data;
	uint64_t mask;
	uint32_t number;
	struct kadapt_channel *channel; /* who has it */
};

static struct pool_ring rings[KADAPT_POOL_MAX];
static uint32_t ring_count;
static uint32_t ring_limit = KADAPT_POOL_MAX;
static atomic_flag busy = ATOMIC_FLAG_INIT;

_Atomic uint64_t kadapt_bound;

static struct kadapt_ring_header *map_ring(int device, const struct kadapt_ring *ring)
{
	long address = syscall(SYS_mmap, NULL, ring->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       device, ring->map_offset);

	return address == -1 ? NULL : (struct kadapt_ring_header *)address;
}

/* The next of `rings`; 0 if there will be no more. */
static int make_ring(void)
{
	struct kadapt_ring ring = {.bytes = KADAPT_RING_DEFAULT};
	struct pool_ring *made = &rings[ring_count];
	int device = kadapt_device_current();
	int error;

	if (device < 0 || ring_count >= kadapt_device_query()->rings)
		return 0;
	error = -kadapt_device_call(device, KADAPT_RING, (unsigned long)&ring);
	if (error)
		kadapt_device_lost(device, error);
	made->header = error ? NULL : map_ring(device, &ring);
	if (!made->header)
		return 0;
	made->data = (char *)made->header + ring.data_offset;
	made->mask = ring.bytes - 1;
	made->number = ring.number;
	made->channel = NULL;
	return 1;
}

static void give(struct pool_ring *ring, struct kadapt_channel *channel)
{
	ring->channel = channel;
	channel->ring = (uint32_t)(ring - rings) + 1;
}

/* Take a ring that holds nothing from a channel that nobody is in. */
static int took_from_other(struct pool_ring *ring)
{
	struct kadapt_channel *holder = ring->channel;
	int is_idle;

	if (kadapt_limit(ring->header) || !kadapt_channel_try(holder))
		return 0;
	is_idle = !kadapt_limit(ring->header) && ring->header->tail == ring->header->head;
	if (is_idle) {
		holder->header = NULL;
		holder->other = NULL;
		holder->stream = NULL;
		holder->ring = 0;
		atomic_fetch_and(&kadapt_bound, ~(1ULL << (ring - rings)));
	}
	kadapt_channel_leave(holder);
	return is_idle;
}

static struct pool_ring *find_ring(void)
{
	if (ring_count < ring_limit) {
		if (make_ring())
			return &rings[ring_count++];
		ring_limit = ring_count;
	}
	for (uint32_t i = 0; i < ring_count; i++)
		if (took_from_other(&rings[i]))
			return &rings[i];
	return NULL;
}

/* Whoever finds the pool busy, a signal handler perhaps, goes without. */
int kadapt_pool_take(struct kadapt_channel *channel)
{
	struct pool_ring *found;

	if (channel->ring)
		return 1;
	if (atomic_flag_test_and_set(&busy))
		return 0;
	found = find_ring();
	if (found)
		give(found, channel);
	atomic_flag_clear(&busy);
	return found != NULL;
}

uint32_t kadapt_pool_number(const struct kadapt_channel *channel)
{
	uint32_t ring = __atomic_load_n(&channel->ring, __ATOMIC_RELAXED);

	/* Another thread may just have taken it: then it is a number that no ring has. */
	return ring ? rings[ring - 1].number : KADAPT_DRAIN__RING;
}

void kadapt_pool_attach(struct kadapt_channel *channel, int for_write)
{
	struct pool_ring *ring = &rings[channel->ring - 1];

	channel->data = ring->data;
	channel->mask = ring->mask;
	channel->header = for_write ? ring->header : NULL;
	channel->other = for_write ? NULL : ring->header;
	atomic_fetch_or(&kadapt_bound, 1ULL << (channel->ring - 1));
}

struct kadapt_channel *kadapt_pool_channel(unsigned int bit)
{
	return rings[bit].channel;
}

void kadapt_pool_unbound(const struct kadapt_channel *channel)
{
	if (channel->ring)
		atomic_fetch_and(&kadapt_bound, ~(1ULL << (channel->ring - 1)));
}

uint64_t kadapt_pool_bytes(void)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ring_count; i++)
		bytes += rings[i].header->tail;
	return bytes;
}

void kadapt_pool_forget(void)
{
	ring_count = 0;
	ring_limit = KADAPT_POOL_MAX;
	atomic_store(&kadapt_bound, 0);
	atomic_flag_clear(&busy);
}
