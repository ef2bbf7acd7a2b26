// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens when somebody touches a bound file.
 *
 * A system call is restarted rather than continued. It has read the file's
 * position already, and holds locks that draining takes: the position's lock,
 * or the right to write to the file system. So the guarded operation asks for a
 * restart of the call. The task that touched the file unbinds the ring on its
 * way back to user mode, where it holds no locks. The restarted call finds the
 * file's own operations.
 *
 * Whatever can't be restarted unbinds the ring on the spot: requests of AIO and
 * io_uring, and calls by kernel threads.
 */
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <asm/syscall.h>

#include "base/compat.h"
#include "ring/bound.h"
#include "ring/ring.h"
#include "ring/touch.h"

/* A ring to be unbound when the task returns to user mode. */
struct touch {
	struct callback_head work;
	struct kadapt_ring *ring;
	bool breaks_lease;
};

/*
 * The ring accepted its bytes under the file-size limit of its binding. A task
 * with a lower limit could not write them; the worker has no limit.
 */
static bool is_for_worker(const struct kadapt_ring *ring)
{
	return current->mm != ring->mm ||
	       rlimit(RLIMIT_FSIZE) < READ_ONCE(ring->size_limit);
}

/* The worker writes what can't be written now, as others may wait for it. */
void kadapt_touch_unbind(struct kadapt_ring *ring, bool may_write)
{
	if (!may_write && is_for_worker(ring)) {
		kadapt_ring_request(ring, KADAPT_REQUEST_UNBIND);
		kadapt_ring_finish(ring);
		return;
	}
	kadapt_ring_lock(ring);
	ring->may_write = may_write;
	if (kadapt_ring_unbind(ring))
		kadapt_ring_request(ring, KADAPT_REQUEST_UNBIND);
	ring->may_write = false;
	kadapt_ring_unlock(ring);
}

void kadapt_touch_drain(struct kadapt_ring *ring)
{
	if (is_for_worker(ring)) {
		kadapt_ring_finish(ring);
		return;
	}
	kadapt_ring_lock(ring);
	if (!kadapt_ring_drain(ring))
		kadapt_ring_accept(ring);
	kadapt_ring_unlock(ring);
}

/*
 * Restart a call that failed because of the ring's lease: it must not wait
 * (O_NONBLOCK, or ftruncate(2)), or this task work interrupted it. The plain
 * program's call would not have waited. So the handler of a signal that is
 * pending, too, must not make the call fail with EINTR.
 */
static void restart_call(void)
{
	struct pt_regs *registers = current_pt_regs();
	long error = syscall_get_error(current, registers);

	if (error == -EWOULDBLOCK || error == -ERESTARTSYS)
		syscall_set_return_value(current, registers, -ERESTARTNOINTR,
					 0);
}

static void unbind_on_return(struct callback_head *work)
{
	struct touch *touch = container_of(work, struct touch, work);

	kadapt_touch_unbind(touch->ring, false);
	kadapt_ring_put(touch->ring);
	if (touch->breaks_lease)
		restart_call();
	kfree(touch);
}

static bool ask_to_unbind(struct kadapt_ring *ring, bool breaks_lease,
			  gfp_t how)
{
	struct touch *touch = kmalloc(sizeof(*touch), how);

	if (!touch)
		return false;
	kadapt_ring_get(ring);
	touch->ring = ring;
	touch->breaks_lease = breaks_lease;
	init_task_work(&touch->work, unbind_on_return);
	if (!task_work_add(current, &touch->work, TWA_SIGNAL))
		return true;
	/* Never the last reference: the caller has one. */
	kadapt_ring_put(ring);
	kfree(touch);
	return false;
}

int kadapt_touch_restart(struct kadapt_ring *ring)
{
	bool asked = kadapt_ring_is_bound(ring) &&
		     ask_to_unbind(ring, false, GFP_KERNEL);

	kadapt_ring_put(ring);
	if (asked)
		return -ERESTARTNOINTR;
	/* Without memory the call is restarted until there is some. */
	cond_resched();
	return restart_syscall();
}

static bool is_system_call(void)
{
	return !(current->flags & (PF_KTHREAD | PF_USER_WORKER | PF_EXITING));
}

bool kadapt_touch_by_lease(struct kadapt_ring *ring)
{
	return is_system_call() && ask_to_unbind(ring, true, GFP_ATOMIC);
}

int kadapt_touch(struct file *file, bool may_write)
{
	struct kadapt_ring *ring = kadapt_bound_by_another(file_inode(file));

	if (ring && is_system_call())
		return kadapt_touch_restart(ring);
	if (ring) {
		kadapt_touch_unbind(ring, may_write);
		kadapt_ring_put(ring);
	}
	return 0;
}

/*
 * io_uring reads the position in a kernel thread, where no call is restarted. A
 * position that the ring has written past was read before the drain. A request
 * with this very offset can't be told apart.
 */
static void follow_position(const struct file *file, loff_t first,
			    loff_t *position)
{
	loff_t now = READ_ONCE(file->f_pos);

	if (*position >= first && *position < now)
		*position = now;
}

int kadapt_touch_splice(struct file *file, loff_t *position)
{
	struct kadapt_ring *ring = kadapt_bound_by_another(file_inode(file));
	loff_t first;

	if (!ring)
		return 0;
	if (is_system_call())
		return kadapt_touch_restart(ring);
	first = READ_ONCE(ring->first);
	kadapt_touch_unbind(ring, true);
	follow_position(file, first, position);
	kadapt_ring_put(ring);
	return 0;
}

int kadapt_touch_request(struct kiocb *request, bool may_write)
{
	struct kadapt_ring *ring;

	if (is_sync_kiocb(request))
		return kadapt_touch(request->ki_filp, may_write);
	ring = kadapt_bound_by_another(file_inode(request->ki_filp));
	if (!ring)
		return 0;
	if (request->ki_flags & IOCB_NOWAIT) {
		kadapt_ring_put(ring);
		return -EAGAIN;
	}
	kadapt_touch_unbind(ring, may_write);
	kadapt_ring_put(ring);
	if (compat_goes_by_position(request))
		request->ki_pos = READ_ONCE(request->ki_filp->f_pos);
	return 0;
}
