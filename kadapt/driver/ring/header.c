// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver writes into a ring's header: how much the program may append.
 */
#include <linux/atomic.h>
#include <linux/fs.h>

#include "ring/ring.h"

static void publish_limit(struct kadapt_ring *ring, u64 limit)
{
	struct kadapt_ring_header *header = ring->memory.header;

	WRITE_ONCE(header->state, ring->file ? KADAPT_RING_BOUND : 0);
	/*
	 * Pairs with the acquire in the program's append: state before limit.
	 */
	smp_store_release(&header->limit, limit);
}

void kadapt_ring_accept(struct kadapt_ring *ring)
{
	size_t wanted = ring->mark ?: ring->memory.bytes;

	if (ring->file && !ring->closed)
		publish_limit(ring, ring->head + kadapt_file_room(ring, wanted));
}

void kadapt_ring_accept_none(struct kadapt_ring *ring)
{
	publish_limit(ring, 0);
}

/*
 * Appends fail from here on: one instruction reads the tail and sets the bit.
 */
void kadapt_ring_close(struct kadapt_ring *ring)
{
	ring->closed = true;
	atomic64_fetch_or(KADAPT_RING_CLOSED,
			  (atomic64_t *)&ring->memory.header->tail);
	kadapt_ring_accept_none(ring);
}

/*
 * The new tail differs from every earlier tail. So an append that began under
 * an earlier binding and was interrupted fails.
 */
void kadapt_ring_open(struct kadapt_ring *ring)
{
	struct kadapt_ring_header *header = ring->memory.header;

	ring->head += ring->memory.bytes;
	ring->bound_head = ring->head;
	ring->closed = false;
	WRITE_ONCE(header->head, ring->head);
	/* Pairs with the acquire in the program's append: head before tail. */
	smp_store_release(&header->tail, ring->head);
}

/* Report the kept error once. */
int kadapt_ring_take_error(struct kadapt_ring *ring)
{
	int error = ring->error;

	ring->error = 0;
	WRITE_ONCE(ring->memory.header->error, 0);
	return -error;
}
