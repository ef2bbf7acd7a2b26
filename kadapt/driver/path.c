// SPDX-License-Identifier: GPL-2.0-only
/* The paths of a process: to make one, map it, use it, end it. */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "path.h"
#include "paths.h"
#include "task.h"

/* A ring's place in the device's offsets. */
#define MAP_SHIFT 24
/* Between two looks whether the other ends took what is left at the exit. */
#define EXIT_LOOK_MS 5

struct kadapt_path *kadapt_path_get(struct kadapt_path *path)
{
	kref_get(&path->refs);
	return path;
}

static void path_free(struct kref *refs)
{
	struct kadapt_path *path = container_of(refs, struct kadapt_path, refs);

	kadapt_memory_free(&path->memory);
	mmdrop(path->mm);
	kadapt_client_put(path->client);
	mutex_destroy(&path->lock);
	kfree(path);
	module_put(THIS_MODULE);
}

void kadapt_path_put(struct kadapt_path *path)
{
	kref_put(&path->refs, path_free);
}

static struct kadapt_path *path_create(struct kadapt_client *client,
				       size_t bytes)
{
	struct kadapt_path *path = kzalloc(sizeof(*path), GFP_KERNEL_ACCOUNT);

	if (!path)
		return NULL;
	if (kadapt_memory_allocate(&path->memory, bytes)) {
		kfree(path);
		return NULL;
	}
	/* A drain may outlive the open file that holds the module. */
	__module_get(THIS_MODULE);
	kref_init(&path->refs);
	path->client = kadapt_client_get(client);
	path->mm = current->mm;
	mmgrab(path->mm);
	mutex_init(&path->lock);
	kadapt_drainer_prepare(path);
	return path;
}

/* The path of this number, with a reference; it ends by kadapt_path_put(). */
static struct kadapt_path *path_find(struct kadapt_client *client,
				     unsigned long number)
{
	struct kadapt_path *path;

	xa_lock(&client->paths);
	path = xa_load(&client->paths, number);
	if (path)
		kadapt_path_get(path);
	xa_unlock(&client->paths);
	if (!path)
		return ERR_PTR(-ENOENT);
	/* exec() keeps the process but not its memory. */
	if (path->mm != current->mm) {
		kadapt_path_put(path);
		return ERR_PTR(-EPERM);
	}
	return path;
}

void kadapt_paths_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_RINGS | KADAPT_FEATURE_BATCHES;
	if (hrtimer_resolution < TICK_NSEC)
		query->features |= KADAPT_FEATURE_SHORT_DELAYS;
	query->delay_min_ns = hrtimer_resolution;
	query->rings = KADAPT_PATHS;
}

static int check_size(const struct kadapt_ring *ring)
{
	if (ring->flags || !is_power_of_2(ring->bytes))
		return -EINVAL;
	if (ring->bytes < KADAPT_RING_MIN || ring->bytes > KADAPT_RING_MAX)
		return -ERANGE;
	return 0;
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
	error = xa_alloc(&client->paths, &path->number, path,
			 XA_LIMIT(0, KADAPT_PATHS - 1), GFP_KERNEL_ACCOUNT);
	if (error) {
		kadapt_path_put(path);
		return error == -EBUSY ? -EMFILE : error;
	}
	ring->number = path->number;
	ring->data_offset = PAGE_SIZE;
	ring->map_offset = (u64)path->number << MAP_SHIFT;
	ring->map_bytes = kadapt_memory_map_bytes(ring->bytes);
	return 0;
}

/* mremap() copies a mapping before it asks whether that may be moved. */
static void copied(struct vm_area_struct *vma)
{
	struct kadapt_path *path = kadapt_path_get(vma->vm_private_data);

	atomic_inc(&path->mappings);
}

static void unmapped(struct vm_area_struct *vma)
{
	struct kadapt_path *path = vma->vm_private_data;

	/*
	 * mmap_lock is held, under which no file can be written: a write may
	 * fault, and takes it then.
	 */
	if (atomic_dec_and_test(&path->mappings))
		kadapt_drainer_request(path, KADAPT_REQUEST_END);
	kadapt_path_put(path);
}

static int may_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int moved(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct mapping_operations = {
	.open = copied,
	.close = unmapped,
	.may_split = may_split,
	.mremap = moved,
};

static int map_path(struct kadapt_path *path, struct vm_area_struct *vma)
{
	size_t bytes = kadapt_memory_map_bytes(path->memory.bytes);
	int error;

	if (vma->vm_end - vma->vm_start != bytes ||
	    !(vma->vm_flags & VM_SHARED) ||
	    atomic_cmpxchg(&path->mappings, 0, 1))
		return -EINVAL;
	/* VM_IO: not even madvise() gives it to a child. */
	vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	error = kadapt_memory_map(&path->memory, vma);
	if (error) {
		atomic_set(&path->mappings, 0);
		return error;
	}
	vma->vm_private_data = kadapt_path_get(path);
	vma->vm_ops = &mapping_operations;
	return 0;
}

int kadapt_paths_map(struct kadapt_client *client, struct vm_area_struct *vma)
{
	unsigned long shift = MAP_SHIFT - PAGE_SHIFT;
	struct kadapt_path *path;
	int error;

	if (vma->vm_pgoff & ((1UL << shift) - 1))
		return -ENXIO;
	path = path_find(client, vma->vm_pgoff >> shift);
	if (IS_ERR(path))
		return PTR_ERR(path) == -ENOENT ? -ENXIO : PTR_ERR(path);
	error = map_path(path, vma);
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

	default_delays(path->client, delays);
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
		mutex_lock(&path->lock);
		error = bind_locked(path, binding);
		mutex_unlock(&path->lock);
	}
	kadapt_path_put(path);
	return error;
}

static int drain_locked(struct kadapt_path *path, unsigned long flags)
{
	int error = kadapt_path_drain(path);

	path->held = flags & KADAPT_DRAIN_HOLD;
	if (!error)
		error = kadapt_path_take_error(path, flags);
	if (!error && path->held)
		kadapt_path_hold(path);
	else if (!error)
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
		mutex_lock(&path->lock);
		error = empty(path, flags);
		mutex_unlock(&path->lock);
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
	struct kadapt_path *path;
	unsigned long number;
	int first = 0;

	xa_for_each(&client->paths, number, path) {
		int error;

		path = path_find(client, number);
		if (IS_ERR(path))
			continue;
		error = first ? 0 : path_empty(path, flags, empty);
		first = first ?: error;
		kadapt_path_put(path);
	}
	return first;
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

static int drain_quietly(struct kadapt_path *path, unsigned long flags)
{
	return kadapt_path_drain(path);
}

/* Errors stay kept. */
void kadapt_paths_phase_changes(struct kadapt_client *client)
{
	if (!xa_empty(&client->paths))
		empty_all(client, 0, drain_quietly);
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
	kadapt_drainer_limit(path, KADAPT_PATIENCE_NS);
	return path->sink->is_stream && !patient;
}

/* The program can't name it any more. */
void kadapt_path_forget(struct kadapt_path *path)
{
	if (xa_cmpxchg(&path->client->paths, path->number, path, NULL, 0) ==
	    path)
		kadapt_path_put(path);
}

/*
 * Nothing more comes from the program. False: a stream's other end is waited
 * for, if @patient. The caller has a reference.
 */
bool kadapt_path_end(struct kadapt_path *path, bool patient)
{
	bool is_file, ended;

	mutex_lock(&path->lock);
	ended = end_locked(path, patient);
	is_file = path->sink && !path->sink->is_stream;
	mutex_unlock(&path->lock);
	/* A dying task may be interrupted in its writes, a worker is not. */
	if (is_file && !(current->flags & PF_KTHREAD)) {
		kadapt_drainer_finish(path);
		ended = true;
	}
	if (ended)
		kadapt_path_forget(path);
	return ended;
}

static bool end_all(struct kadapt_client *client, bool patient)
{
	struct kadapt_path *path;
	unsigned long number;
	bool ended = true;

	xa_for_each(&client->paths, number, path) {
		xa_lock(&client->paths);
		path = xa_load(&client->paths, number);
		if (path)
			kadapt_path_get(path);
		xa_unlock(&client->paths);
		if (!path)
			continue;
		ended &= kadapt_path_end(path, patient);
		kadapt_path_put(path);
	}
	return ended;
}

/* The owner closes the device or dies: everything leaves its rings. */
void kadapt_paths_close(struct kadapt_client *client)
{
	u64 patience_ends = ktime_get_ns() + KADAPT_EXIT_PATIENCE_NS;

	while (!end_all(client, ktime_get_ns() < patience_ends))
		msleep(EXIT_LOOK_MS);
}

/* The file is gone, perhaps in a thread that others wait for. */
void kadapt_paths_release(struct kadapt_client *client)
{
	end_all(client, false);
}

int kadapt_paths_init(void)
{
	BUILD_BUG_ON(sizeof(struct kadapt_ring_header) != 128);
	BUILD_BUG_ON(KADAPT_RING_MAX * 2 + PAGE_SIZE > 1UL << MAP_SHIFT);
	return kadapt_drainer_init();
}

void kadapt_paths_exit(void)
{
	kadapt_drainer_exit();
}
