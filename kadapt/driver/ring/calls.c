// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls about rings: create, bind, drain, unbind; and the end of a
 * process.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "phase/client.h"
#include "phase/task.h"
#include "ring/guard.h"
#include "ring/ring.h"
#include "ring/rings.h"

void kadapt_rings_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_RINGS | KADAPT_FEATURE_BATCHES;
	if (hrtimer_resolution < TICK_NSEC)
		query->features |= KADAPT_FEATURE_SHORT_DELAYS;
	query->delay_min_ns = hrtimer_resolution;
	query->rings = KADAPT_RINGS_MAX;
}

static int check_size(const struct kadapt_new_ring *wanted)
{
	if (wanted->flags || !is_power_of_2(wanted->bytes))
		return -EINVAL;
	if (wanted->bytes < KADAPT_RING_MIN || wanted->bytes > KADAPT_RING_MAX)
		return -ERANGE;
	return 0;
}

static void describe(const struct kadapt_ring *ring,
		     struct kadapt_new_ring *made)
{
	made->number = ring->number;
	made->data_offset = PAGE_SIZE;
	made->map_offset = kadapt_ring_map_offset(ring);
	made->map_bytes = kadapt_ring_memory_map_bytes(ring->memory.bytes);
}

/*
 * A new ring looks like one whose binding has ended. Its tail is never 0: a
 * child of fork(2) sees a tail of 0, and its appends must fail.
 */
static void begin_closed(struct kadapt_ring *ring)
{
	ring->head = ring->memory.bytes;
	ring->closed = true;
	ring->memory.header->head = ring->head;
	ring->memory.header->tail = ring->head | KADAPT_RING_CLOSED;
}

static void take_references(struct kadapt_ring *ring,
			    struct kadapt_client *client)
{
	/* The ring's work may outlive the open file that holds the module. */
	__module_get(THIS_MODULE);
	kref_init(&ring->refs);
	ring->client = kadapt_client_get(client);
	ring->mm = current->mm;
	mmgrab(ring->mm);
}

static struct kadapt_ring *create(struct kadapt_client *client, size_t bytes)
{
	struct kadapt_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);

	if (!ring)
		return NULL;
	if (kadapt_ring_memory_allocate(&ring->memory, bytes)) {
		kfree(ring);
		return NULL;
	}
	take_references(ring, client);
	mutex_init(&ring->lock);
	begin_closed(ring);
	kadapt_ring_worker_prepare(ring);
	return ring;
}

int kadapt_rings_create(struct kadapt_client *client,
			struct kadapt_new_ring *wanted)
{
	struct kadapt_ring *ring;
	int error;

	if (!wanted->bytes)
		wanted->bytes = KADAPT_RING_DEFAULT;
	error = check_size(wanted);
	if (error)
		return error;
	ring = create(client, wanted->bytes);
	if (!ring)
		return -ENOMEM;
	/* Once the ring has a number, another thread may end it. */
	kadapt_ring_get(ring);
	error = kadapt_ring_publish(ring);
	if (!error)
		describe(ring, wanted);
	kadapt_ring_put(ring);
	return error;
}

/* The delay that the caller's phase asks for. */
static u64 default_delay(const struct kadapt_client *client)
{
	const struct kadapt_phase *phase = kadapt_task_phase(client);

	return phase && phase->file_delay_ns ? phase->file_delay_ns :
					       KADAPT_FILE_DELAY_NS;
}

static int check_binding(const struct kadapt_ring *ring,
			 const struct kadapt_binding *binding)
{
	if (binding->flags || binding->reserved ||
	    binding->mark_bytes > ring->memory.bytes)
		return -EINVAL;
	return binding->delay_ns > KADAPT_DELAY_MAX_NS ? -ERANGE : 0;
}

static int bind_locked(struct kadapt_ring *ring,
		       struct kadapt_binding *binding)
{
	int error;

	if (ring->ended)
		return -ENOENT;
	error = kadapt_ring_unbind(ring) ?: kadapt_ring_take_error(ring);
	if (!error)
		error = kadapt_ring_bind(ring, binding,
					 default_delay(ring->client));
	if (!error && !kadapt_ring_is_of(ring, binding->descriptor))
		error = kadapt_ring_unbind(ring) ?: -EBADF;
	if (!error)
		kadapt_ring_accept(ring);
	return error;
}

int kadapt_rings_bind(struct kadapt_client *client,
		      struct kadapt_binding *binding)
{
	struct kadapt_ring *ring = kadapt_ring_find(client, binding->ring);
	int error;

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	error = check_binding(ring, binding);
	if (!error) {
		kadapt_ring_lock(ring);
		error = bind_locked(ring, binding);
		kadapt_ring_unlock(ring);
	}
	kadapt_ring_put(ring);
	return error;
}

static int drain_locked(struct kadapt_ring *ring)
{
	int error = kadapt_ring_drain(ring);

	/* A kept error has ended the binding. */
	if (ring->error)
		error = kadapt_ring_take_error(ring);
	if (!error)
		kadapt_ring_accept(ring);
	return error;
}

static int unbind_locked(struct kadapt_ring *ring)
{
	return kadapt_ring_unbind(ring) ?: kadapt_ring_take_error(ring);
}

typedef int (*drain_function)(struct kadapt_ring *ring);

/* Drains and puts the ring. */
static int drain_one(struct kadapt_ring *ring, drain_function drain)
{
	int error;

	kadapt_ring_lock(ring);
	error = drain(ring);
	kadapt_ring_unlock(ring);
	kadapt_ring_put(ring);
	return error;
}

static int drain_all(struct kadapt_client *client, drain_function drain)
{
	struct kadapt_ring *ring;
	unsigned long number;
	int error = 0;

	xa_for_each(&client->rings, number, ring) {
		ring = kadapt_ring_find(client, number);
		if (IS_ERR(ring))
			continue;
		error = drain_one(ring, drain);
		/* A ring that is not bound is empty. */
		if (error && error != -ENOLINK)
			return error;
	}
	return 0;
}

static int drain_named(struct kadapt_client *client, unsigned long argument,
		       drain_function drain)
{
	struct kadapt_ring *ring;

	if (argument & ~KADAPT_DRAIN__ALL)
		return -EINVAL;
	if (argument == KADAPT_DRAIN_ALL)
		return drain_all(client, drain);
	if (argument & KADAPT_DRAIN_ALL)
		return -EINVAL;
	ring = kadapt_ring_find(client, argument);
	return IS_ERR(ring) ? PTR_ERR(ring) : drain_one(ring, drain);
}

int kadapt_rings_drain(struct kadapt_client *client, unsigned long argument)
{
	return drain_named(client, argument, drain_locked);
}

int kadapt_rings_unbind(struct kadapt_client *client, unsigned long argument)
{
	return drain_named(client, argument, unbind_locked);
}

static int drain_and_keep_error(struct kadapt_ring *ring)
{
	if (!kadapt_ring_drain(ring))
		kadapt_ring_accept(ring);
	return 0;
}

void kadapt_rings_phase_changes(struct kadapt_client *client)
{
	if (!xa_empty(&client->rings))
		drain_all(client, drain_and_keep_error);
}

/* The owner closes the device or dies: everything leaves its rings. */
void kadapt_rings_close(struct kadapt_client *client)
{
	struct kadapt_ring *ring;
	unsigned long number;

	xa_for_each(&client->rings, number, ring) {
		ring = kadapt_ring_find_any(client, number);
		if (!ring)
			continue;
		kadapt_ring_end(ring);
		kadapt_ring_remove(ring);
		kadapt_ring_put(ring);
	}
}

/* All clients have ended, so no ring is left. */
void kadapt_rings_exit(void)
{
	kadapt_guards_exit();
}
