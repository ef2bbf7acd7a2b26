// SPDX-License-Identifier: GPL-2.0-only
/* The rings of a process by number, and their references. */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "phase/client.h"
#include "ring/ring.h"

void kadapt_ring_get(struct kadapt_ring *ring)
{
	kref_get(&ring->refs);
}

static void ring_free(struct kref *refs)
{
	struct kadapt_ring *ring = container_of(refs, struct kadapt_ring, refs);

	mmdrop(ring->mm);
	kadapt_client_put(ring->client);
	kadapt_ring_memory_free(&ring->memory);
	mutex_destroy(&ring->lock);
	kfree(ring);
	module_put(THIS_MODULE);
}

void kadapt_ring_put(struct kadapt_ring *ring)
{
	kref_put(&ring->refs, ring_free);
}

int kadapt_ring_publish(struct kadapt_ring *ring)
{
	int error = kadapt_client_employ(ring->client) ?:
		    xa_alloc(&ring->client->rings, &ring->number, ring,
			     XA_LIMIT(0, KADAPT_RINGS_MAX - 1),
			     GFP_KERNEL_ACCOUNT);

	if (error)
		kadapt_ring_put(ring);
	return error == -EBUSY ? -EMFILE : error;
}

struct kadapt_ring *kadapt_ring_find_any(struct kadapt_client *client,
					 unsigned long number)
{
	struct kadapt_ring *ring;

	xa_lock(&client->rings);
	ring = xa_load(&client->rings, number);
	if (ring)
		kadapt_ring_get(ring);
	xa_unlock(&client->rings);
	return ring;
}

struct kadapt_ring *kadapt_ring_find(struct kadapt_client *client,
				     unsigned long number)
{
	struct kadapt_ring *ring = kadapt_ring_find_any(client, number);

	if (!ring)
		return ERR_PTR(-ENOENT);
	/* exec() keeps the process and replaces its memory. */
	if (ring->mm == current->mm)
		return ring;
	kadapt_ring_put(ring);
	return ERR_PTR(-EPERM);
}

void kadapt_ring_remove(struct kadapt_ring *ring)
{
	if (xa_cmpxchg(&ring->client->rings, ring->number, ring, NULL, 0) ==
	    ring)
		kadapt_ring_put(ring);
}
