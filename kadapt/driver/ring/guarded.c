// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a guarded file. Each first has the ring unbound (touch.c),
 * then calls the file system's own operation.
 */
#include <linux/fadvise.h>
#include <linux/fdtable.h>
#include <linux/filelock.h>
#include <linux/fs.h>

#include "base/compat.h"
#include "ring/bound.h"
#include "ring/guarded.h"
#include "ring/ring.h"
#include "ring/touch.h"

static bool is_guarded(const struct file_operations *operations)
{
	return operations->flush == kadapt_guarded_flush;
}

/* The file's own operations, also if the guard has just been removed. */
static const struct file_operations *own_of(const struct file *file)
{
	const struct file_operations *now = READ_ONCE(file->f_op);

	if (!is_guarded(now))
		return now;
	return container_of(now, struct kadapt_guard, guarded)->original;
}

static const struct inode_operations *own_inode_of(const struct inode *inode)
{
	const struct inode_operations *now = READ_ONCE(inode->i_op);

	if (now->getattr != kadapt_guarded_getattr)
		return now;
	return container_of(now, struct kadapt_guard, guarded_inode)
		->original_inode;
}

static ssize_t guarded_read_iter(struct kiocb *request, struct iov_iter *to)
{
	const struct file_operations *own = own_of(request->ki_filp);

	return kadapt_touch_request(request, false) ?:
	       own->read_iter(request, to);
}

static ssize_t guarded_write_iter(struct kiocb *request, struct iov_iter *from)
{
	const struct file_operations *own = own_of(request->ki_filp);

	return kadapt_touch_request(request, true) ?:
	       own->write_iter(request, from);
}

static loff_t guarded_llseek(struct file *file, loff_t offset, int whence)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, false) ?: own->llseek(file, offset, whence);
}

static long guarded_ioctl(struct file *file, unsigned int request,
			  unsigned long argument)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, false) ?:
	       own->unlocked_ioctl(file, request, argument);
}

#ifdef CONFIG_COMPAT
static long guarded_compat_ioctl(struct file *file, unsigned int request,
				 unsigned long argument)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, false) ?:
	       own->compat_ioctl(file, request, argument);
}
#endif

static int guarded_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, false) ?: own->mmap(file, vma);
}

#if COMPAT_HAS_MMAP_PREPARE
static int guarded_mmap_prepare(struct vm_area_desc *wanted)
{
	const struct file_operations *own = own_of(wanted->file);

	return kadapt_touch(wanted->file, false) ?: own->mmap_prepare(wanted);
}
#endif

static int take_error(struct kadapt_ring *ring)
{
	int error;

	kadapt_ring_lock(ring);
	error = kadapt_ring_take_error(ring);
	kadapt_ring_unlock(ring);
	return error;
}

/*
 * A descriptor of the file is closed. No lock is held, so unbind on the spot.
 */
int kadapt_guarded_flush(struct file *file, fl_owner_t owner)
{
	const struct file_operations *own = own_of(file);
	struct kadapt_ring *ring = kadapt_bound_find(file_inode(file));
	int error = 0;

	if (ring) {
		kadapt_touch_unbind(ring, false);
		error = take_error(ring);
		kadapt_ring_put(ring);
	}
	return (own->flush ? own->flush(file, owner) : 0) ?: error;
}

static int guarded_fsync(struct file *file, loff_t start, loff_t end,
			 int datasync)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, false) ?:
	       own->fsync(file, start, end, datasync);
}

static int guarded_lock(struct file *file, int command, struct file_lock *lock)
{
	int error = kadapt_touch(file, false);

	if (error)
		return error;
	if (command == F_GETLK || command == F_GETLK64)
		return vfs_test_lock(file, lock);
	return vfs_lock_file(file, command, lock, NULL);
}

static int guarded_flock(struct file *file, int command, struct file_lock *lock)
{
	const struct file_operations *own = own_of(file);
	int error = kadapt_touch(file, false);

	if (error)
		return error;
	return own->flock ? own->flock(file, command, lock) :
			    locks_lock_file_wait(file, lock);
}

static ssize_t guarded_splice_write(struct pipe_inode_info *pipe,
				    struct file *file, loff_t *position,
				    size_t bytes, unsigned int flags)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch_splice(file, position) ?:
	       own->splice_write(pipe, file, position, bytes, flags);
}

static ssize_t guarded_splice_read(struct file *file, loff_t *position,
				   struct pipe_inode_info *pipe, size_t bytes,
				   unsigned int flags)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, false) ?:
	       own->splice_read(file, position, pipe, bytes, flags);
}

static int guarded_setlease(struct file *file, int type,
			    struct file_lease **lease, void **owner)
{
	const struct file_operations *own = own_of(file);
	int error = kadapt_touch(file, false);

	if (error)
		return error;
	return own->setlease ? own->setlease(file, type, lease, owner) :
			       generic_setlease(file, type, lease, owner);
}

static long guarded_fallocate(struct file *file, int mode, loff_t offset,
			      loff_t bytes)
{
	const struct file_operations *own = own_of(file);

	return kadapt_touch(file, true) ?:
	       own->fallocate(file, mode, offset, bytes);
}

static ssize_t guarded_copy_file_range(struct file *from, loff_t from_offset,
				       struct file *to, loff_t to_offset,
				       size_t bytes, unsigned int flags)
{
	const struct file_operations *own = own_of(to);

	return kadapt_touch(to, true) ?:
	       own->copy_file_range(from, from_offset, to, to_offset, bytes,
				    flags);
}

static int guarded_fadvise(struct file *file, loff_t offset, loff_t bytes,
			   int advice)
{
	const struct file_operations *own = own_of(file);
	int error = kadapt_touch(file, false);

	if (error)
		return error;
	return own->fadvise ? own->fadvise(file, offset, bytes, advice) :
			      generic_fadvise(file, offset, bytes, advice);
}

/* Called under a spinlock. Returns 0 to go on with the next descriptor. */
static int look_at_descriptor(const void *found, struct file *file,
			      unsigned int number)
{
	struct kadapt_ring *ring;

	if (!is_guarded(READ_ONCE(file->f_op)))
		return 0;
	ring = kadapt_bound_by_another(file_inode(file));
	*(struct kadapt_ring **)found = ring;
	return ring ? 1 : 0;
}

/*
 * fcntl(F_SETFL) calls this without naming the file. So the call is restarted
 * until none of the caller's files is bound.
 */
static int guarded_check_flags(int flags)
{
	struct kadapt_ring *ring = NULL;

	if (!iterate_fd(current->files, 0, look_at_descriptor, &ring))
		return 0;
	return kadapt_touch_restart(ring);
}

/* stat(2) drains the ring, which stays bound. */
int kadapt_guarded_getattr(struct mnt_idmap *idmap, const struct path *where,
			   struct kstat *answer, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(where->dentry);
	const struct inode_operations *own = own_inode_of(inode);
	struct kadapt_ring *ring = kadapt_bound_by_another(inode);

	if (ring) {
		kadapt_touch_drain(ring);
		kadapt_ring_put(ring);
	}
	if (own->getattr)
		return own->getattr(idmap, where, answer, mask, flags);
	generic_fillattr(idmap, mask, inode, answer);
	return 0;
}

/* The caller holds the inode's lock, so the ring can't be drained here. */
static int guarded_fileattr_set(struct mnt_idmap *idmap, struct dentry *dentry,
				struct compat_fileattr *wanted)
{
	const struct inode_operations *own = own_inode_of(d_inode(dentry));
	struct kadapt_ring *ring = kadapt_bound_by_another(d_inode(dentry));

	return ring ? kadapt_touch_restart(ring) :
		      own->fileattr_set(idmap, dentry, wanted);
}

/* The kernel does not do what the file system has no operation for. */
static void guard_transfers(const struct file_operations *own,
			    struct kadapt_file_operations *copy)
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
			struct kadapt_file_operations *copy)
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
	/*
	 * If the file system lacks one of these, the kernel uses a generic one.
	 */
	copy->flush = kadapt_guarded_flush;
	copy->lock = guarded_lock;
	copy->flock = guarded_flock;
	copy->setlease = guarded_setlease;
	copy->fadvise = guarded_fadvise;
	copy->check_flags = guarded_check_flags;
}

void kadapt_guard_fill(struct kadapt_guard *guard)
{
	guard_transfers(guard->original, &guard->guarded);
	guard_calls(guard->original, &guard->guarded);
	guard->guarded_inode.getattr = kadapt_guarded_getattr;
	if (guard->original_inode->fileattr_set)
		guard->guarded_inode.fileattr_set = guarded_fileattr_set;
}
