// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guard of a bound file. While a ring is bound, the open file's operations
 * are copies of its own that first have the ring emptied and the file let go.
 * So raw system calls, another thread's close, another process with the same
 * open file, AIO and io_uring find what the ring had accepted, in order. A file
 * that is not bound keeps its own operations, and pays nothing.
 *
 * A system call is made anew rather than gone on with. It has looked at the
 * file's position already, and holds locks that emptying takes: the lock of the
 * position, or the right to write to the file system. So the operation asks for
 * the restart of the call, and the ring is emptied on the way back to user mode,
 * where nothing is held, in the context of who touched the file. The second time
 * the call finds the file's own operations.
 *
 * What can't be made anew empties the ring on the spot: requests of AIO and
 * io_uring, calls by kernel threads, and flush, which is called without locks.
 *
 * Lifetime. A guard, which is a copy of a file system's operations, stays until
 * the module goes: a task may be about to call what it has read from the file.
 */
#include <linux/fadvise.h>
#include <linux/fdtable.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <asm/syscall.h>

#include "compat.h"
#include "guard.h"
#include "path.h"

/* Copies, which are changed; elsewhere such tables are constant. */
#define changed_file_operations file_operations
#define changed_inode_operations inode_operations

/* Of files of one kind. */
struct guard {
	struct list_head link;
	const struct file_operations *original;
	struct changed_file_operations guarded;
	const struct inode_operations *original_inode;
	struct changed_inode_operations guarded_inode;
};

/* Emptying, asked for by who touched the file. */
struct touch {
	struct callback_head work;
	struct kadapt_path *path;
	bool breaks_lease;
};

static LIST_HEAD(guards);
static DEFINE_MUTEX(guards_lock);

/* Bound paths, by their file's inode: none has two of them. */
static DEFINE_HASHTABLE(bound, 8);
static DEFINE_SPINLOCK(bound_lock);

static int guarded_flush(struct file *file, fl_owner_t owner);

static bool is_guarded(const struct file_operations *operations)
{
	return operations->flush == guarded_flush;
}

const struct file_operations *kadapt_unguarded(const struct file *file)
{
	const struct file_operations *now = READ_ONCE(file->f_op);

	if (!is_guarded(now))
		return now;
	return container_of(now, struct guard, guarded)->original;
}

/* The path that is bound to a file, with a reference, or NULL. */
static struct kadapt_path *find_bound(const struct inode *inode)
{
	struct kadapt_path *path;

	spin_lock(&bound_lock);
	hash_for_each_possible(bound, path, bound, (unsigned long)inode) {
		if (file_inode(path->file) != inode)
			continue;
		kadapt_path_get(path);
		spin_unlock(&bound_lock);
		return path;
	}
	spin_unlock(&bound_lock);
	return NULL;
}

/* The path in whose way the caller is; NULL if there is none, or it is itself. */
static struct kadapt_path *find_in_the_way(const struct inode *inode)
{
	struct kadapt_path *path = find_bound(inode);

	if (!path || !kadapt_path_is_held(path))
		return path;
	/* To empty the ring is to write to the file. */
	kadapt_path_put(path);
	return NULL;
}

/*
 * The ring accepted its bytes under the file-size limit of its binding. A task
 * whose own limit is lower could not write them; the worker has no limit.
 */
static bool is_for_worker(const struct kadapt_path *path)
{
	return current->mm != path->region.mm ||
	       rlimit(RLIMIT_FSIZE) < READ_ONCE(path->size_limit);
}

/* What can't be written now is left to the worker, as others may wait for it. */
static void let_go(struct kadapt_path *path, bool may_write)
{
	if (!may_write && is_for_worker(path)) {
		kadapt_region_request(&path->region, KADAPT_REQUEST_UNBIND);
		kadapt_region_finish(&path->region);
		return;
	}
	kadapt_path_lock(path);
	path->may_write = may_write;
	if (kadapt_path_unbind(path))
		kadapt_region_request(&path->region, KADAPT_REQUEST_UNBIND);
	path->may_write = false;
	kadapt_path_unlock(path);
}

/*
 * A call that was not to wait, O_NONBLOCK or ftruncate(2), failed for our lease:
 * it is made anew, too.
 */
static void make_anew(void)
{
	struct pt_regs *registers = current_pt_regs();

	if (syscall_get_error(current, registers) == -EWOULDBLOCK)
		syscall_set_return_value(current, registers, -ERESTARTNOINTR,
					 0);
}

static void let_go_on_return(struct callback_head *work)
{
	struct touch *touch = container_of(work, struct touch, work);

	let_go(touch->path, false);
	kadapt_path_put(touch->path);
	if (touch->breaks_lease)
		make_anew();
	kfree(touch);
}

static bool ask_to_let_go(struct kadapt_path *path, bool breaks_lease,
			  gfp_t how)
{
	struct touch *touch = kmalloc(sizeof(*touch), how);

	if (!touch)
		return false;
	kadapt_path_get(path);
	touch->path = path;
	touch->breaks_lease = breaks_lease;
	init_task_work(&touch->work, let_go_on_return);
	if (!task_work_add(current, &touch->work, TWA_SIGNAL))
		return true;
	/* Never the last. */
	kadapt_path_put(path);
	kfree(touch);
	return false;
}

/* Takes over the reference. Without memory the call comes again until there is. */
static int ask_for_restart(struct kadapt_path *path)
{
	bool asked = kadapt_path_is_bound(path) &&
		     ask_to_let_go(path, false, GFP_KERNEL);

	kadapt_path_put(path);
	if (asked)
		return -ERESTARTNOINTR;
	cond_resched();
	return restart_syscall();
}

static bool is_system_call(void)
{
	return !(current->flags & (PF_KTHREAD | PF_USER_WORKER | PF_EXITING));
}

bool kadapt_guard_broken(struct kadapt_path *path)
{
	return is_system_call() && ask_to_let_go(path, true, GFP_ATOMIC);
}

/*
 * 0: the ring is empty, go on with the file's own operation; else what the
 * operation returns. @may_write: the caller has the right to write to the file
 * system (file_start_write()), which can't be taken twice.
 */
static int touch(struct file *file, bool may_write)
{
	struct kadapt_path *path = find_in_the_way(file_inode(file));

	if (path && is_system_call())
		return ask_for_restart(path);
	if (path) {
		let_go(path, may_write);
		kadapt_path_put(path);
	}
	return 0;
}

/* The same of a request that may be an asynchronous one. */
static int touch_request(struct kiocb *request, bool may_write)
{
	struct kadapt_path *path;

	if (is_sync_kiocb(request))
		return touch(request->ki_filp, may_write);
	path = find_in_the_way(file_inode(request->ki_filp));
	if (!path)
		return 0;
	if (request->ki_flags & IOCB_NOWAIT) {
		kadapt_path_put(path);
		return -EAGAIN;
	}
	let_go(path, may_write);
	kadapt_path_put(path);
	if (compat_goes_by_position(request))
		request->ki_pos = READ_ONCE(request->ki_filp->f_pos);
	return 0;
}

static ssize_t guarded_read_iter(struct kiocb *request, struct iov_iter *to)
{
	const struct file_operations *own = kadapt_unguarded(request->ki_filp);

	return touch_request(request, false) ?: own->read_iter(request, to);
}

static ssize_t guarded_write_iter(struct kiocb *request, struct iov_iter *from)
{
	const struct file_operations *own = kadapt_unguarded(request->ki_filp);

	return touch_request(request, true) ?: own->write_iter(request, from);
}

static loff_t guarded_llseek(struct file *file, loff_t offset, int whence)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, false) ?: own->llseek(file, offset, whence);
}

static long guarded_ioctl(struct file *file, unsigned int request,
			  unsigned long argument)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, false) ?:
	       own->unlocked_ioctl(file, request, argument);
}

#ifdef CONFIG_COMPAT
static long guarded_compat_ioctl(struct file *file, unsigned int request,
				 unsigned long argument)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, false) ?: own->compat_ioctl(file, request, argument);
}
#endif

static int guarded_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, false) ?: own->mmap(file, vma);
}

#if COMPAT_HAS_MMAP_PREPARE
static int guarded_mmap_prepare(struct vm_area_desc *wanted)
{
	const struct file_operations *own = kadapt_unguarded(wanted->file);

	return touch(wanted->file, false) ?: own->mmap_prepare(wanted);
}
#endif

static int take_error(struct kadapt_path *path)
{
	int error;

	kadapt_path_lock(path);
	error = kadapt_path_take_error(path);
	kadapt_path_unlock(path);
	return error;
}

/* The descriptor, or one that shares its file, is closed: on the spot. */
static int guarded_flush(struct file *file, fl_owner_t owner)
{
	const struct file_operations *own = kadapt_unguarded(file);
	struct kadapt_path *path = find_bound(file_inode(file));
	int error = 0;

	if (path) {
		let_go(path, false);
		error = take_error(path);
		kadapt_path_put(path);
	}
	return (own->flush ? own->flush(file, owner) : 0) ?: error;
}

static int guarded_fsync(struct file *file, loff_t start, loff_t end,
			 int datasync)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, false) ?: own->fsync(file, start, end, datasync);
}

static int guarded_lock(struct file *file, int command, struct file_lock *lock)
{
	int error = touch(file, false);

	if (error)
		return error;
	if (command == F_GETLK || command == F_GETLK64)
		return vfs_test_lock(file, lock);
	return vfs_lock_file(file, command, lock, NULL);
}

static int guarded_flock(struct file *file, int command, struct file_lock *lock)
{
	const struct file_operations *own = kadapt_unguarded(file);
	int error = touch(file, false);

	if (error)
		return error;
	return own->flock ? own->flock(file, command, lock) :
			    locks_lock_file_wait(file, lock);
}

static ssize_t guarded_splice_write(struct pipe_inode_info *pipe,
				    struct file *file, loff_t *position,
				    size_t bytes, unsigned int flags)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, true) ?:
	       own->splice_write(pipe, file, position, bytes, flags);
}

static ssize_t guarded_splice_read(struct file *file, loff_t *position,
				   struct pipe_inode_info *pipe, size_t bytes,
				   unsigned int flags)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, false) ?:
	       own->splice_read(file, position, pipe, bytes, flags);
}

static int guarded_setlease(struct file *file, int type,
			    struct file_lease **lease, void **owner)
{
	const struct file_operations *own = kadapt_unguarded(file);
	int error = touch(file, false);

	if (error)
		return error;
	return own->setlease ? own->setlease(file, type, lease, owner) :
			       generic_setlease(file, type, lease, owner);
}

static long guarded_fallocate(struct file *file, int mode, loff_t offset,
			      loff_t bytes)
{
	const struct file_operations *own = kadapt_unguarded(file);

	return touch(file, true) ?: own->fallocate(file, mode, offset, bytes);
}

static ssize_t guarded_copy_file_range(struct file *from, loff_t from_offset,
				       struct file *to, loff_t to_offset,
				       size_t bytes, unsigned int flags)
{
	const struct file_operations *own = kadapt_unguarded(to);

	return touch(to, true) ?:
	       own->copy_file_range(from, from_offset, to, to_offset, bytes,
				    flags);
}

static int guarded_fadvise(struct file *file, loff_t offset, loff_t bytes,
			   int advice)
{
	const struct file_operations *own = kadapt_unguarded(file);
	int error = touch(file, false);

	if (error)
		return error;
	return own->fadvise ? own->fadvise(file, offset, bytes, advice) :
			      generic_fadvise(file, offset, bytes, advice);
}

/* Under a spinlock. 0 goes on with the next descriptor. */
static int look_at_descriptor(const void *found, struct file *file,
			      unsigned int number)
{
	struct kadapt_path *path;

	if (!is_guarded(READ_ONCE(file->f_op)))
		return 0;
	path = find_in_the_way(file_inode(file));
	*(struct kadapt_path **)found = path;
	return path ? 1 : 0;
}

/*
 * Asked for F_SETFL, without saying of which file: of one of the caller's. The
 * call comes again, until none of them is bound.
 */
static int guarded_check_flags(int flags)
{
	struct kadapt_path *path = NULL;

	if (!iterate_fd(current->files, 0, look_at_descriptor, &path))
		return 0;
	return ask_for_restart(path);
}

static const struct inode_operations *
unguarded_inode(const struct inode *inode);

static void empty(struct kadapt_path *path)
{
	if (is_for_worker(path)) {
		kadapt_region_finish(&path->region);
		return;
	}
	kadapt_path_lock(path);
	if (!kadapt_path_drain(path))
		kadapt_path_accept(path);
	kadapt_path_unlock(path);
}

/* Whoever looks at the file's size and times; the ring stays bound. */
static int guarded_getattr(struct mnt_idmap *idmap, const struct path *where,
			   struct kstat *answer, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(where->dentry);
	const struct inode_operations *own = unguarded_inode(inode);
	struct kadapt_path *path = find_in_the_way(inode);

	if (path) {
		empty(path);
		kadapt_path_put(path);
	}
	if (own->getattr)
		return own->getattr(idmap, where, answer, mask, flags);
	generic_fillattr(idmap, mask, inode, answer);
	return 0;
}

/* The inode is locked: what is pending can't be written here. */
static int guarded_fileattr_set(struct mnt_idmap *idmap, struct dentry *dentry,
				struct compat_fileattr *wanted)
{
	const struct inode_operations *own = unguarded_inode(d_inode(dentry));
	struct kadapt_path *path = find_in_the_way(d_inode(dentry));

	return path ? ask_for_restart(path) :
		      own->fileattr_set(idmap, dentry, wanted);
}

static const struct inode_operations *unguarded_inode(const struct inode *inode)
{
	const struct inode_operations *now = READ_ONCE(inode->i_op);

	if (now->getattr != guarded_getattr)
		return now;
	return container_of(now, struct guard, guarded_inode)->original_inode;
}

/* What a file system has not, the kernel does not do there. */
static void guard_transfers(const struct file_operations *own,
			    struct changed_file_operations *copy)
{
	if (own->read_iter)
		copy->read_iter = guarded_read_iter;
	if (own->write_iter)
		copy->write_iter = guarded_write_iter;
	if (own->splice_write)
		copy->splice_write = guarded_splice_write;
	if (own->splice_read)
		copy->splice_read = guarded_splice_read;
	if (own->copy_file_range)
		copy->copy_file_range = guarded_copy_file_range;
	if (own->mmap)
		copy->mmap = guarded_mmap;
#if COMPAT_HAS_MMAP_PREPARE
	if (own->mmap_prepare)
		copy->mmap_prepare = guarded_mmap_prepare;
#endif
}

static void guard_calls(const struct file_operations *own,
			struct changed_file_operations *copy)
{
	if (own->llseek)
		copy->llseek = guarded_llseek;
	if (own->unlocked_ioctl)
		copy->unlocked_ioctl = guarded_ioctl;
#ifdef CONFIG_COMPAT
	if (own->compat_ioctl)
		copy->compat_ioctl = guarded_compat_ioctl;
#endif
	if (own->fsync)
		copy->fsync = guarded_fsync;
	if (own->fallocate)
		copy->fallocate = guarded_fallocate;
	/* Where a file system has none of these, the kernel has its own. */
	copy->flush = guarded_flush;
	copy->lock = guarded_lock;
	copy->flock = guarded_flock;
	copy->setlease = guarded_setlease;
	copy->fadvise = guarded_fadvise;
	copy->check_flags = guarded_check_flags;
}

static void replace_operations(struct guard *guard)
{
	guard_transfers(guard->original, &guard->guarded);
	guard_calls(guard->original, &guard->guarded);
	guard->guarded_inode.getattr = guarded_getattr;
	if (guard->original_inode->fileattr_set)
		guard->guarded_inode.fileattr_set = guarded_fileattr_set;
}

static struct guard *make_guard(const struct file *file)
{
	struct guard *guard = kzalloc(sizeof(*guard), GFP_KERNEL);

	if (!guard)
		return NULL;
	guard->original = file->f_op;
	guard->guarded = *file->f_op;
	guard->original_inode = file_inode(file)->i_op;
	guard->guarded_inode = *file_inode(file)->i_op;
	replace_operations(guard);
	list_add(&guard->link, &guards);
	return guard;
}

static struct guard *guard_for(const struct file *file)
{
	struct guard *guard;

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

int kadapt_guard(struct kadapt_path *path)
{
	struct file *file = path->file;
	struct inode *inode = file_inode(file);
	struct guard *guard = guard_for(file);

	if (!guard)
		return -ENOMEM;
	spin_lock(&bound_lock);
	hash_add(bound, &path->bound, (unsigned long)inode);
	spin_unlock(&bound_lock);
	/* After the table: what calls the guard's operations finds the path. */
	smp_store_release(&file->f_op, &guard->guarded);
	/* Likewise. */
	smp_store_release(&inode->i_op, &guard->guarded_inode);
	return 0;
}

void kadapt_unguard(struct kadapt_path *path)
{
	struct inode *inode = file_inode(path->file);

	if (!hash_hashed(&path->bound))
		return;
	WRITE_ONCE(path->file->f_op, kadapt_unguarded(path->file));
	WRITE_ONCE(inode->i_op, unguarded_inode(inode));
	spin_lock(&bound_lock);
	hash_del(&path->bound);
	spin_unlock(&bound_lock);
}

void kadapt_guards_exit(void)
{
	struct guard *guard, *next;

	/* Whoever read a file's operations before they were its own again. */
	compat_wait_for_tasks();
	list_for_each_entry_safe(guard, next, &guards, link)
		kfree(guard);
}
