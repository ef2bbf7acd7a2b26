// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guards of bound files. While a ring is bound, the open file has copies of
 * the file system's operations, which unbind the ring first. So raw system
 * calls, another thread's close, another process with the same open file, AIO
 * and io_uring find what the ring had accepted, in order. A file that is not
 * bound keeps its own operations and pays nothing.
 *
 * Lifetime. A guard stays until the module is unloaded: a task that has read
 * the file's operations may be about to call one.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "ring/bound.h"
#include "ring/guard.h"
#include "ring/guarded.h"
#include "ring/ring.h"

static LIST_HEAD(guards);
static DEFINE_MUTEX(guards_lock);

static struct kadapt_guard *make_guard(const struct file *file)
{
	struct kadapt_guard *guard = kzalloc(sizeof(*guard), GFP_KERNEL);

	if (!guard)
		return NULL;
	guard->original = file->f_op;
	guard->guarded = *file->f_op;
	guard->original_inode = file_inode(file)->i_op;
	guard->guarded_inode = *file_inode(file)->i_op;
	kadapt_guard_fill(guard);
	list_add(&guard->link, &guards);
	return guard;
}

static struct kadapt_guard *guard_for(const struct file *file)
{
	struct kadapt_guard *guard;

	mutex_lock(&guards_lock);
	list_for_each_entry(guard, &guards, link) {
		if (guard->original == file->f_op &&
		    guard->original_inode == file_inode(file)->i_op)
			goto found;
	}
	guard = make_guard(file);
found:
	mutex_unlock(&guards_lock);
	return guard;
}

int kadapt_guard(struct kadapt_ring *ring)
{
	struct file *file = ring->file;
	struct inode *inode = file_inode(file);
	struct kadapt_guard *guard = guard_for(file);

	if (!guard)
		return -ENOMEM;
	ring->inode_operations = inode->i_op;
	kadapt_bound_add(ring);
	/* Table before operations: a guarded operation finds the ring. */
	smp_store_release(&file->f_op, &guard->guarded);
	/* Likewise. */
	smp_store_release(&inode->i_op, &guard->guarded_inode);
	return 0;
}

void kadapt_guards_exit(void)
{
	struct kadapt_guard *guard, *next;

	/*
	 * A task may have read a file's operations before they were restored.
	 */
	compat_wait_for_tasks();
	list_for_each_entry_safe(guard, next, &guards, link)
		kfree(guard);
}
