// SPDX-License-Identifier: GPL-2.0-only
/*
 * A write path for phases that append small records to a regular file of tmpfs or
 * ext4. It writes into one page, on tmpfs one that is in memory already. All else is
 * left to the original. Checks and side effects are those of the original:
 * limits, seals, security modules, frozen file systems, times, signals to watchers,
 * counters. On ext4 the file system's own functions begin and end each write, so
 * its journal, fsync(2) and crashes are as before.
 */
#include <kadence/unit.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/pagemap.h>
#include <linux/sched/xacct.h>
#include <linux/security.h>
#include <linux/shmem_fs.h>
#include <linux/uaccess.h>
#include <linux/writeback.h>
#include <uapi/linux/fcntl.h>
#include <uapi/linux/magic.h>

extern const struct file_operations shmem_file_operations;

static bool is_on_tmpfs(const struct file *file)
{
	return file->f_op == &shmem_file_operations &&
	       !(SHMEM_I(file_inode(file))->seals &
		 (F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
}

static bool is_on_ext4(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return inode->i_sb->s_magic == EXT4_SUPER_MAGIC && S_ISREG(inode->i_mode) &&
	       !IS_DAX(inode) && !IS_SYNC(inode) && inode->i_mapping->a_ops->write_begin;
}

static bool is_plain(const struct file *file)
{
	return (file->f_mode & (FMODE_WRITE | FMODE_CAN_WRITE)) ==
		   (FMODE_WRITE | FMODE_CAN_WRITE) &&
	       !(file->f_flags & (O_DIRECT | O_DSYNC)) && IS_NOSEC(file_inode(file));
}

static size_t copy_into(struct folio *folio, loff_t at, const char __user *buffer, size_t count)
{
	size_t left;

	pagefault_disable();
	left = __copy_from_user_inatomic(folio_address(folio) + offset_in_folio(folio, at), buffer,
					 count);
	pagefault_enable();
	return left;
}

/* Returns false if the original has to do it, as the next ones do. The inode is locked. */
static bool copy_on_tmpfs(struct inode *inode, const char __user *buffer, size_t count, loff_t at)
{
	struct folio *folio = filemap_lock_folio(inode->i_mapping, at >> PAGE_SHIFT);
	size_t left = count;

	if (IS_ERR(folio))
		return false;
	if (folio_test_uptodate(folio) && !folio_test_large(folio))
		left = copy_into(folio, at, buffer, count);
	if (!left) {
		if (at + count > i_size_read(inode))
			i_size_write(inode, at + count);
		folio_mark_dirty(folio);
	}
	folio_unlock(folio);
	folio_put(folio);
	return !left;
}

static bool copy_on_ext4(struct file *file, const char __user *buffer, size_t count, loff_t at)
{
	struct address_space *mapping = file->f_mapping;
	struct folio *folio;
	void *private = NULL;
	size_t copied;

	if (mapping->a_ops->write_begin(file, mapping, at, count, &folio, &private))
		return false;
	copied = copy_into(folio, at, buffer, count) ? 0 : count;
	/* Nothing is written if nothing was copied. */
	return mapping->a_ops->write_end(file, mapping, at, count, copied, folio, private) ==
	       (int)count;
}

/* No page is in memory there yet. This is read without a lock, so it may be wrong. */
static bool begins_a_page(const struct file *file, loff_t position)
{
	loff_t size = i_size_read(file_inode(file));
	loff_t at = file->f_flags & O_APPEND ? size : position;

	return !offset_in_page(at) && at >= size;
}

static bool append(struct file *file, const char __user *buffer, size_t count, loff_t *position,
		   bool on_tmpfs)
{
	struct inode *inode = file_inode(file);
	bool done = false;
	loff_t at;

	file_start_write(file);
	inode_lock(inode);
	at = file->f_flags & O_APPEND ? i_size_read(inode) : *position;
	if (offset_in_page(at) + count <= PAGE_SIZE && at + count <= rlimit(RLIMIT_FSIZE) &&
	    at + count <= inode->i_sb->s_maxbytes && !file_update_time(file))
		done = on_tmpfs ? copy_on_tmpfs(inode, buffer, count, at)
				: copy_on_ext4(file, buffer, count, at);
	if (done)
		*position = at + count;
	inode_unlock(inode);
	file_end_write(file);
	if (done && !on_tmpfs)
		balance_dirty_pages_ratelimited(file->f_mapping);
	return done;
}

KADENCE_REPLACES(vfs_write, ssize_t, struct file *file, const char __user *buffer, size_t count,
		 loff_t *position)
{
	bool on_tmpfs = is_on_tmpfs(file);

	if (count && position && is_plain(file) && (on_tmpfs || is_on_ext4(file)) &&
	    !(on_tmpfs && begins_a_page(file, *position)) && access_ok(buffer, count) &&
	    !security_file_permission(file, MAY_WRITE) &&
	    append(file, buffer, count, position, on_tmpfs)) {
		fsnotify_modify(file);
		add_wchar(current, count);
		inc_syscw(current);
		return count;
	}
	return KADENCE_ORIGINAL(vfs_write)(file, buffer, count, position);
}

KADENCE_UNIT;
