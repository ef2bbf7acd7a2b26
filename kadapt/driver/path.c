// SPDX-License-Identifier: GPL-2.0-only
/* The rings of a process: to make one, use it, end it. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "path.h"
#include "paths.h"
#include "task.h"

static struct kadapt_path *path_of(struct kadapt_region *region)
{
	return container_of(region, struct kadapt_path, region);
}

static void path_free(struct kadapt_region *region)
{
	struct kadapt_path *path = path_of(region);

	kadapt_ring_memory_free(&path->memory);
	mutex_destroy(&path->lock);
	kfree(path);
}

static size_t path_map_bytes(const struct kadapt_region *region)
{
	const struct kadapt_path *path =
		container_of(region, struct kadapt_path, region);

	return kadapt_ring_memory_map_bytes(path->memory.bytes);
}

static int path_map(struct kadapt_region *region, struct vm_area_struct *vma)
{
	return kadapt_ring_memory_map(&path_of(region)->memory, vma);
}

/*
 * Whether the ring is empty and its file let go. What a stream's other end does
 * not take within the exit's patience the worker goes on to offer it.
 */
static bool end_locked(struct kadapt_path *path, bool patient)
{
	path->ended = true;
	kadapt_path_unbind(path);
	if (!path->sink)
		return true;
	kadapt_drainer_limit(path);
	return path->sink->is_stream && !patient;
}

/* Nothing more comes from the program. */
static bool path_end(struct kadapt_region *region, bool patient)
{
	struct kadapt_path *path = path_of(region);
	bool is_file, ended;

	kadapt_path_lock(path);
	ended = end_locked(path, patient);
	is_file = path->sink && !path->sink->is_stream;
	kadapt_path_unlock(path);
	/* A dying task may be interrupted in its writes, a worker is not. */
	if (is_file && !(current->flags & PF_KTHREAD)) {
		kadapt_region_finish(region);
		ended = true;
	}
	return ended;
}

static void path_work(struct kadapt_region *region)
{
	kadapt_drainer_work(path_of(region));
}

static const struct kadapt_region_kind ring_kind = {
	.map_bytes = path_map_bytes,
	.map = path_map,
	.work = path_work,
	.end = path_end,
	.free = path_free,
};

static struct kadapt_path *path_create(struct kadapt_client *client,
				       size_t bytes)
{
	struct kadapt_path *path = kzalloc(sizeof(*path), GFP_KERNEL_ACCOUNT);

	if (!path)
		return NULL;
	if (kadapt_ring_memory_allocate(&path->memory, bytes)) {
		kfree(path);
		return NULL;
	}
	kadapt_region_init(&path->region, &ring_kind, client);
	mutex_init(&path->lock);
	kadapt_drainer_prepare(path);
	return path;
}

/* The path of this number, with a reference; it ends by kadapt_path_put(). */
static struct kadapt_path *path_find(struct kadapt_client *client,
				     unsigned long number)
{
	struct kadapt_region *region =
		kadapt_region_find(client, number, &ring_kind);

	return IS_ERR(region) ? ERR_CAST(region) : path_of(region);
}

void kadapt_paths_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_RINGS | KADAPT_FEATURE_BATCHES |
			   KADAPT_FEATURE_WINDOWS;
	if (hrtimer_resolution < TICK_NSEC)
		query->features |= KADAPT_FEATURE_SHORT_DELAYS;
	query->delay_min_ns = hrtimer_resolution;
	query->rings = KADAPT_REGIONS;
}

static int check_size(const struct kadapt_ring *ring)
{
	if (ring->flags || !is_power_of_2(ring->bytes))
		return -EINVAL;
	if (ring->bytes < KADAPT_RING_MIN || ring->bytes > KADAPT_RING_MAX)
		return -ERANGE;
	return 0;
}

static void describe(const struct kadapt_path *path, struct kadapt_ring *ring)
{
	ring->number = path->region.number;
	ring->data_offset = PAGE_SIZE;
	ring->map_offset = kadapt_region_map_offset(&path->region);
	ring->map_bytes = path_map_bytes(&path->region);
}

int kadapt_paths_create(struct kadapt_client *client, struct kadapt_ring *ring)
{
	struct kadapt_path *path;
	int error;

	if (!ring->bytes)
		ring->bytes = KADAPT_RING_DEFAULT;
	error = check_size(ring);
	if (error)
		return error;
	path = path_create(client, ring->bytes);
	if (!path)
		return -ENOMEM;
	/* As soon as it has a number, another thread may end it. */
	kadapt_path_get(path);
	error = kadapt_region_publish(&path->region);
	if (!error)
		describe(path, ring);
	kadapt_path_put(path);
	return error;
}

/* What the caller's phase says of delays, of files and of streams. */
static void default_delays(const struct kadapt_client *client, u64 delay_ns[2])
{
	const struct kadapt_phase *phase = kadapt_task_phase(client);

	delay_ns[0] = KADAPT_FILE_DELAY_NS;
	delay_ns[1] = KADAPT_STREAM_DELAY_NS;
	if (phase && phase->delay_ns[0])
		delay_ns[0] = phase->delay_ns[0];
	if (phase && phase->delay_ns[1])
		delay_ns[1] = phase->delay_ns[1];
}

static int check_binding(const struct kadapt_path *path,
			 const struct kadapt_binding *binding)
{
	if (binding->flags & ~KADAPT_BIND__ALL ||
	    binding->mark_bytes > path->memory.bytes)
		return -EINVAL;
	if ((s64)binding->offset < 0)
		return -EINVAL;
	return binding->delay_ns > KADAPT_DELAY_MAX_NS ? -ERANGE : 0;
}

static int bind_locked(struct kadapt_path *path,
		       struct kadapt_binding *binding)
{
	u64 delays[2];
	int error;

	default_delays(path->region.client, delays);
	if (path->ended)
		return -ENOENT;
	error = path->sink ? kadapt_path_unbind(path) : 0;
	if (!error)
		error = kadapt_path_take_error(path, 0);
	if (!error)
		error = kadapt_path_bind(path, binding, delays);
	if (!error)
		kadapt_path_accept(path);
	return error;
}

int kadapt_paths_bind(struct kadapt_client *client,
		      struct kadapt_binding *binding)
{
	struct kadapt_path *path = path_find(client, binding->ring);
	int error;

	if (IS_ERR(path))
		return PTR_ERR(path);
	error = check_binding(path, binding);
	if (!error) {
		kadapt_path_lock(path);
		error = bind_locked(path, binding);
		kadapt_path_unlock(path);
	}
	kadapt_path_put(path);
	return error;
}

static int drain_locked(struct kadapt_path *path, unsigned long flags)
{
	int error = kadapt_path_drain(path) ?:
		    kadapt_path_take_error(path, flags);

	if (!error)
		kadapt_path_accept(path);
	return error;
}

static int unbind_locked(struct kadapt_path *path, unsigned long flags)
{
	return kadapt_path_unbind(path) ?: kadapt_path_take_error(path, flags);
}

typedef int (*empty_function)(struct kadapt_path *path, unsigned long flags);

/* Empty the ring, waiting for the other end where that is wished. */
static int path_empty(struct kadapt_path *path, unsigned long flags,
		      empty_function empty)
{
	int error;

	for (;;) {
		kadapt_path_lock(path);
		error = empty(path, flags);
		kadapt_path_unlock(path);
		if (error != -EAGAIN || !(flags & KADAPT_DRAIN_WAIT))
			return error;
		error = kadapt_path_wait(path);
		if (error)
			return error;
	}
}

static int empty_all(struct kadapt_client *client, unsigned long flags,
		     empty_function empty)
{
	struct kadapt_region *region;
	unsigned long number;
	int error = 0;

	xa_for_each(&client->regions, number, region) {
		struct kadapt_path *path = path_find(client, number);

		if (IS_ERR(path))
			continue;
		error = path_empty(path, flags, empty);
		kadapt_path_put(path);
		if (error)
			break;
	}
	return error;
}

static int empty_one(struct kadapt_client *client, unsigned long argument,
		     empty_function empty)
{
	struct kadapt_path *path =
		path_find(client, argument & KADAPT_DRAIN__RING);
	int error;

	if (IS_ERR(path))
		return PTR_ERR(path);
	error = path_empty(path, argument, empty);
	kadapt_path_put(path);
	return error;
}

static int empty_some(struct kadapt_client *client, unsigned long argument,
		      empty_function empty)
{
	if (argument & ~KADAPT_DRAIN__ALL)
		return -EINVAL;
	if (!(argument & KADAPT_DRAIN_ALL))
		return empty_one(client, argument, empty);
	if (argument & KADAPT_DRAIN__RING)
		return -EINVAL;
	return empty_all(client, argument, empty);
}

int kadapt_paths_drain(struct kadapt_client *client, unsigned long argument)
{
	return empty_some(client, argument, drain_locked);
}

int kadapt_paths_unbind(struct kadapt_client *client, unsigned long argument)
{
	return empty_some(client, argument, unbind_locked);
}

/* A stream without room keeps none of the other rings. */
static int drain_quietly(struct kadapt_path *path, unsigned long flags)
{
	kadapt_path_drain(path);
	return 0;
}

/* Errors stay kept. */
void kadapt_paths_phase_changes(struct kadapt_client *client)
{
	if (!xa_empty(&client->regions))
		empty_all(client, 0, drain_quietly);
}
