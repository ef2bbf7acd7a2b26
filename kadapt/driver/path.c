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

void kadapt_path_free(struct kadapt_region *region)
{
	struct kadapt_path *path = path_of(region);

	kadapt_ring_memory_free(&path->memory);
	mutex_destroy(&path->lock);
	kfree(path);
}

size_t kadapt_path_map_bytes(const struct kadapt_region *region)
{
	const struct kadapt_path *path =
		container_of(region, struct kadapt_path, region);

	return kadapt_ring_memory_map_bytes(path->memory.bytes);
}

int kadapt_path_map(struct kadapt_region *region, struct vm_area_struct *vma)
{
	return kadapt_ring_memory_map(&path_of(region)->memory, vma);
}

struct page *kadapt_path_page(struct kadapt_region *region,
			      unsigned long number)
{
	return kadapt_ring_memory_page(&path_of(region)->memory, number);
}

/* Nothing more comes from the program: the ring is emptied, its file let go. */
void kadapt_path_end(struct kadapt_region *region)
{
	struct kadapt_path *path = path_of(region);
	bool is_left;

	kadapt_path_lock(path);
	path->ended = true;
	kadapt_path_unbind(path);
	is_left = path->file;
	kadapt_path_unlock(path);
	/* A dying task may be interrupted in its writes, a worker is not. */
	if (is_left && !(current->flags & PF_KTHREAD))
		kadapt_region_finish(region);
}

/* As if a binding had ended: no tail is ever 0, which a child of fork(2) sees. */
static void begin_ring(struct kadapt_path *path)
{
	path->head = path->memory.bytes;
	path->closed = true;
	path->memory.header->head = path->head;
	path->memory.header->tail = path->head | KADAPT_RING_CLOSED;
}

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
	kadapt_region_init(&path->region, client);
	mutex_init(&path->lock);
	begin_ring(path);
	kadapt_drainer_prepare(path);
	return path;
}

/* The path of this number, with a reference; it ends by kadapt_path_put(). */
static struct kadapt_path *path_find(struct kadapt_client *client,
				     unsigned long number)
{
	struct kadapt_region *region =
		kadapt_region_find(client, number);

	return IS_ERR(region) ? ERR_CAST(region) : path_of(region);
}

void kadapt_paths_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_RINGS | KADAPT_FEATURE_BATCHES;
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
	ring->map_bytes = kadapt_path_map_bytes(&path->region);
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

/* What the caller's phase says. */
static u64 default_delay(const struct kadapt_client *client)
{
	const struct kadapt_phase *phase = kadapt_task_phase(client);

	return phase && phase->file_delay_ns ? phase->file_delay_ns :
					       KADAPT_FILE_DELAY_NS;
}

static int check_binding(const struct kadapt_path *path,
			 const struct kadapt_binding *binding)
{
	if (binding->flags || binding->reserved ||
	    binding->mark_bytes > path->memory.bytes)
		return -EINVAL;
	return binding->delay_ns > KADAPT_DELAY_MAX_NS ? -ERANGE : 0;
}

static int bind_locked(struct kadapt_path *path,
		       struct kadapt_binding *binding)
{
	int error;

	if (path->ended)
		return -ENOENT;
	error = kadapt_path_unbind(path) ?: kadapt_path_take_error(path);
	if (!error)
		error = kadapt_path_bind(path, binding,
					 default_delay(path->region.client));
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

static int drain_locked(struct kadapt_path *path)
{
	int error = kadapt_path_drain(path);

	/* An error has let the file go. */
	if (path->error)
		error = kadapt_path_take_error(path);
	if (!error)
		kadapt_path_accept(path);
	return error;
}

static int unbind_locked(struct kadapt_path *path)
{
	return kadapt_path_unbind(path) ?: kadapt_path_take_error(path);
}

typedef int (*empty_function)(struct kadapt_path *path);

static int path_empty(struct kadapt_path *path, empty_function empty)
{
	int error;

	kadapt_path_lock(path);
	error = empty(path);
	kadapt_path_unlock(path);
	kadapt_path_put(path);
	return error;
}

static int empty_all(struct kadapt_client *client, empty_function empty)
{
	struct kadapt_region *region;
	unsigned long number;
	int error = 0;

	xa_for_each(&client->regions, number, region) {
		struct kadapt_path *path = path_find(client, number);

		if (IS_ERR(path))
			continue;
		error = path_empty(path, empty);
		/* One that is not bound is empty. */
		if (error && error != -ENOLINK)
			return error;
	}
	return 0;
}

static int empty_some(struct kadapt_client *client, unsigned long argument,
		      empty_function empty)
{
	struct kadapt_path *path;

	if (argument & ~KADAPT_DRAIN__ALL)
		return -EINVAL;
	if (argument == KADAPT_DRAIN_ALL)
		return empty_all(client, empty);
	if (argument & KADAPT_DRAIN_ALL)
		return -EINVAL;
	path = path_find(client, argument);
	return IS_ERR(path) ? PTR_ERR(path) : path_empty(path, empty);
}

int kadapt_paths_drain(struct kadapt_client *client, unsigned long argument)
{
	return empty_some(client, argument, drain_locked);
}

int kadapt_paths_unbind(struct kadapt_client *client, unsigned long argument)
{
	return empty_some(client, argument, unbind_locked);
}

/* Errors stay kept. */
static int drain_quietly(struct kadapt_path *path)
{
	if (!kadapt_path_drain(path))
		kadapt_path_accept(path);
	return 0;
}

void kadapt_paths_phase_changes(struct kadapt_client *client)
{
	if (!xa_empty(&client->regions))
		empty_all(client, drain_quietly);
}
