// SPDX-License-Identifier: GPL-2.0-only
/* To bind a ring to a descriptor's open file, and to let that go. */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/timekeeping.h>

#include "path.h"

static void publish_limit(struct kadapt_path *path, u64 limit)
{
	struct kadapt_ring_header *header = path->memory.header;

	WRITE_ONCE(header->state, path->file ? KADAPT_RING_BOUND : 0);
	/* After what the program may look at once it sees the limit. */
	smp_store_release(&header->limit, limit);
}

/* Accept as much as there is room for, and the mark allows. */
void kadapt_path_accept(struct kadapt_path *path)
{
	size_t wanted = path->mark ?: path->memory.bytes;

	if (path->file && !path->closed)
		publish_limit(path, path->head + kadapt_file_room(path, wanted));
}

/* Appends fail from here on: the bit and the tail change in one instruction. */
void kadapt_path_close(struct kadapt_path *path)
{
	path->closed = true;
	atomic64_fetch_or(KADAPT_RING_CLOSED,
			  (atomic64_t *)&path->memory.header->tail);
	publish_limit(path, 0);
}

/*
 * The tail is another than at any time before. So an append that began under an
 * earlier binding, and was interrupted, fails.
 */
static void open_ring(struct kadapt_path *path)
{
	struct kadapt_ring_header *header = path->memory.header;

	path->head += path->memory.bytes;
	path->bound_head = path->head;
	path->closed = false;
	WRITE_ONCE(header->head, path->head);
	/* After the head, which the program reads with it. */
	smp_store_release(&header->tail, path->head);
}

static void release_identity(struct kadapt_path *path)
{
	put_cred(path->cred);
	mem_cgroup_put(path->memcg);
	path->cred = NULL;
	path->memcg = NULL;
}

/*
 * If ours is the last reference, who wants the file's lock waits for its end: a
 * worker would put it off by a tick.
 */
static void put_file(struct file *file)
{
	if (current->flags & PF_KTHREAD)
		__fput_sync(file);
	else
		fput(file);
}

/* The descriptor's file is no longer ours; the ring is closed and empty. */
void kadapt_path_let_go(struct kadapt_path *path)
{
	struct file *file = path->file;

	kadapt_drainer_stop(path);
	kadapt_file_unbind(path);
	WRITE_ONCE(path->file, NULL);
	publish_limit(path, 0);
	release_identity(path);
	put_file(file);
	/* Never the last: who holds the lock came by another reference. */
	kadapt_path_put(path);
}

static void keep_identity(struct kadapt_path *path)
{
	path->cred = get_current_cred();
	path->memcg = get_mem_cgroup_from_mm(current->mm);
}

/* Of the binding, in the path, until the file has been bound. */
static void set_terms(struct kadapt_path *path, struct file *file,
		      const struct kadapt_binding *binding)
{
	path->file = file;
	path->mark = binding->mark_bytes;
	path->delay_ns = binding->delay_ns;
	/* From here on the lease may be broken. */
	clear_bit(KADAPT_REQUEST_UNBIND, &path->region.requests);
	keep_identity(path);
}

static int attach(struct kadapt_path *path, struct file *file,
		  const struct kadapt_binding *binding)
{
	int error;

	set_terms(path, file, binding);
	open_ring(path);
	error = kadapt_file_bind(path);
	if (error) {
		kadapt_path_close(path);
		WRITE_ONCE(path->file, NULL);
		publish_limit(path, 0);
		release_identity(path);
		return error;
	}
	kadapt_path_get(path);
	WRITE_ONCE(path->emptied_ns, ktime_get_mono_fast_ns());
	kadapt_drainer_start(path);
	return 0;
}

static void choose_delay(struct kadapt_binding *binding, u64 by_default)
{
	if (!binding->delay_ns)
		binding->delay_ns = by_default;
	binding->delay_ns = max_t(u64, binding->delay_ns, hrtimer_resolution);
}

int kadapt_path_bind(struct kadapt_path *path, struct kadapt_binding *binding,
		     u64 default_delay_ns)
{
	struct file *file;
	int error;

	/* A filter judges calls, and there would be none. */
	if (seccomp_mode(&current->seccomp))
		return -EPERM;
	file = fget(binding->descriptor);
	if (!file)
		return -EBADF;
	choose_delay(binding, default_delay_ns);
	error = attach(path, file, binding);
	if (error)
		fput(file);
	return error;
}

/* The kept error, given once. */
int kadapt_path_take_error(struct kadapt_path *path)
{
	int error = path->error;

	path->error = 0;
	WRITE_ONCE(path->memory.header->error, 0);
	return -error;
}
