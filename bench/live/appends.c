// SPDX-License-Identifier: GPL-2.0-only
/*
 * A write path for phases that append small records to a regular file of tmpfs:
 * it copies into a page that is in memory already, and leaves all else to the
 * original. Checks and side effects are those of the original: limits, seals,
 * security modules, frozen file systems, times, signals to watchers, counters.
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
#include <uapi/linux/fcntl.h>

extern const struct file_operations shmem_file_operations;

static bool is_plain(const struct file *file)
{
	return file->f_op == &shmem_file_operations &&
	       (file->f_mode & (FMODE_WRITE | FMODE_CAN_WRITE)) ==
		   (FMODE_WRITE | FMODE_CAN_WRITE) &&
	       !(file->f_flags & (O_DIRECT | O_DSYNC)) && IS_NOSEC(file_inode(file)) &&
	       !(SHMEM_I(file_inode(file))->seals &
		 (F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
}

/* Returns false if the original has to do it. The inode is locked. */
static bool copy(struct file *file, const char __user *buffer, size_t count, loff_t at)
{
	struct inode *inode = file_inode(file);
	struct folio *folio;
	size_t left;

	folio = filemap_lock_folio(inode->i_mapping, at >> PAGE_SHIFT);
	if (IS_ERR(folio))
		return false;
	left = count;
	if (folio_test_uptodate(folio) && !folio_test_large(folio)) {
		pagefault_disable();
		left = __copy_from_user_inatomic(folio_address(folio) + offset_in_page(at), buffer,
						 count);
		pagefault_enable();
	}
	if (!left) {
		if (at + count > i_size_read(inode))
			i_size_write(inode, at + count);
		folio_mark_dirty(folio);
	}
	folio_unlock(folio);
	folio_put(folio);
	return !left;
}

/* No page is in memory there yet. This is read without a lock, so it may be wrong. */
static bool begins_a_page(const struct file *file, loff_t position)
{
	loff_t size = i_size_read(file_inode(file));
	loff_t at = file->f_flags & O_APPEND ? size : position;

	return !offset_in_page(at) && at >= size;
}

static bool append(struct file *file, const char __user *buffer, size_t count, loff_t *position)
{
	struct inode *inode = file_inode(file);
	bool done = false;
	loff_t at;

	file_start_write(file);
	inode_lock(inode);
	at = file->f_flags & O_APPEND ? i_size_read(inode) : *position;
	if (offset_in_page(at) + count <= PAGE_SIZE && at + count <= rlimit(RLIMIT_FSIZE) &&
	    !file_update_time(file))
		done = copy(file, buffer, count, at);
	if (done)
		*position = at + count;
	inode_unlock(inode);
	file_end_write(file);
	return done;
}

KADENCE_REPLACES(vfs_write, ssize_t, struct file *file, const char __user *buffer, size_t count,
		 loff_t *position)
{
	if (count && position && is_plain(file) && !begins_a_page(file, *position) &&
	    access_ok(buffer, count) && !security_file_permission(file, MAY_WRITE) &&
	    append(file, buffer, count, position)) {
		fsnotify_modify(file);
		add_wchar(current, count);
		inc_syscw(current);
		return count;
	}
	return KADENCE_ORIGINAL(vfs_write)(file, buffer, count, position);
}

KADENCE_UNIT;
