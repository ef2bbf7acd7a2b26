// SPDX-License-Identifier: GPL-2.0-only
/* The begin of a binding: a ring gets the open file of a descriptor. */
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seccomp.h>
#include <linux/timekeeping.h>

#include "base/compat.h"
#include "ring/guard.h"
#include "ring/ring.h"
#include "ring/touch.h"

static struct kadapt_ring *ring_of(const struct kadapt_lease *lease)
{
	return container_of(lease, struct kadapt_ring, lease);
}

/* Called under a spinlock. If no system call breaks it, the worker unbinds. */
static void lease_broken(struct kadapt_lease *lease)
{
	struct kadapt_ring *ring = ring_of(lease);

	if (!kadapt_touch_by_lease(ring))
		kadapt_ring_request(ring, KADAPT_REQUEST_UNBIND);
}

/* Giving back reserved space changes the file as truncate(2) does. */
static bool is_breaker_the_holder(const struct kadapt_lease *lease)
{
	return kadapt_ring_is_held(ring_of(lease));
}

/*
 * An append names the open file by a descriptor, so the descriptor must mean
 * the same in every thread. And io_uring's kernel threads can't be restarted.
 */
static bool is_ordinary(const struct task_struct *thread)
{
	return READ_ONCE(thread->files) == current->files &&
	       !compat_uses_io_uring(thread);
}

static bool are_threads_ordinary(void)
{
	const struct task_struct *thread;
	bool found = false;

	/* A process that shares the memory has a table of its own. */
	if (atomic_read(&current->mm->mm_users) > get_nr_threads(current))
		return false;
	rcu_read_lock();
	for_each_thread(current, thread)
		found |= !(thread->flags & PF_EXITING) && !is_ordinary(thread);
	rcu_read_unlock();
	return !found;
}

static int take_file(struct kadapt_ring *ring)
{
	int error = kadapt_file_check(ring);

	if (error)
		return error;
	ring->lease.broken = lease_broken;
	ring->lease.owns = is_breaker_the_holder;
	error = kadapt_lease_take(&ring->lease, ring->file);
	if (error)
		return error;
	error = kadapt_file_probe(ring) ?: kadapt_guard(ring);
	if (error)
		kadapt_lease_return(&ring->lease);
	return error;
}

static void set_terms(struct kadapt_ring *ring, struct file *file,
		      const struct kadapt_binding *binding)
{
	ring->file = file;
	ring->mark = binding->mark_bytes;
	ring->delay_ns = binding->delay_ns;
	ring->cred = get_current_cred();
	ring->memcg = get_mem_cgroup_from_mm(current->mm);
	/* From here on another task may break the lease. */
	clear_bit(KADAPT_REQUEST_UNBIND, &ring->requests);
}

static int attach(struct kadapt_ring *ring, struct file *file,
		  const struct kadapt_binding *binding)
{
	int error;

	set_terms(ring, file, binding);
	kadapt_ring_open(ring);
	error = take_file(ring);
	if (error) {
		kadapt_ring_close(ring);
		kadapt_ring_drop_terms(ring);
		return error;
	}
	kadapt_ring_get(ring);
	WRITE_ONCE(ring->emptied_ns, ktime_get_mono_fast_ns());
	kadapt_ring_timer_start(ring);
	return 0;
}

static void choose_delay(struct kadapt_binding *binding, u64 by_default)
{
	if (!binding->delay_ns)
		binding->delay_ns = by_default;
	binding->delay_ns = max_t(u64, binding->delay_ns, hrtimer_resolution);
}

int kadapt_ring_bind(struct kadapt_ring *ring, struct kadapt_binding *binding,
		     u64 default_delay_ns)
{
	struct file *file;
	int error;

	/* A filter judges calls, and an append is none. */
	if (seccomp_mode(&current->seccomp))
		return -EPERM;
	if (!are_threads_ordinary())
		return -EBUSY;
	file = fget(binding->descriptor);
	if (!file)
		return -EBADF;
	choose_delay(binding, default_delay_ns);
	error = attach(ring, file, binding);
	if (error)
		fput(file);
	return error;
}

/*
 * Another thread may have closed or replaced the descriptor after its file was
 * found and before the file was guarded. That thread then met no guard. It
 * changes the table under this lock: either it comes first and is seen here, or
 * it comes later and meets the guard.
 */
bool kadapt_ring_is_of(const struct kadapt_ring *ring, unsigned int descriptor)
{
	struct files_struct *files = current->files;
	bool is_same;

	spin_lock(&files->file_lock);
	is_same = files_lookup_fd_locked(files, descriptor) == ring->file;
	spin_unlock(&files->file_lock);
	return is_same;
}
