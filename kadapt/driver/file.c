// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file that a ring is bound to: the lease, the position, and space reserved
 * before bytes are accepted, so that a full disk is met by write(2) and not by
 * the drain.
 */
#include <linux/fs.h>
/* Does not include what it uses. */
#include <linux/falloc.h>
#include <linux/fsnotify.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/uio.h>

#include "compat.h"
#include "guard.h"
#include "path.h"

/* Reservations grow as a file does, so that a short burst reserves little. */
#define FIRST_RESERVE SZ_16K
#define LARGEST_RESERVE SZ_1M
/* With less than this ahead, it is time for more: a record fits into it. */
#define LEAST_RESERVE SZ_16K

/* The file's table entry and ours. */
#define UNSHARED 2

static struct inode *inode_of(const struct kadapt_path *path)
{
	return file_inode(path->file);
}

/* Where the next byte goes. */
static loff_t position_of(const struct kadapt_path *path)
{
	if (path->file->f_flags & O_APPEND)
		return i_size_read(inode_of(path));
	return READ_ONCE(path->file->f_pos);
}

/* No byte may be accepted from this offset on. */
static loff_t highest_offset(const struct kadapt_path *path)
{
	u64 limit = min_t(u64, path->size_limit,
			  inode_of(path)->i_sb->s_maxbytes);

	if (!(path->file->f_flags & O_LARGEFILE))
		limit = min_t(u64, limit, MAX_NON_LFS);
	return limit;
}

static int allocate(struct kadapt_path *path, loff_t from, loff_t end)
{
	const struct cred *saved;
	int error;

	if (from >= end)
		return 0;
	saved = override_creds(path->cred);
	error = vfs_fallocate(path->file, FALLOC_FL_KEEP_SIZE, from,
			      end - from);
	revert_creds(saved);
	return error;
}

/* Where nothing lies but what somebody reserved. */
static loff_t beyond_end(const struct kadapt_path *path)
{
	return round_up(i_size_read(inode_of(path)), PAGE_SIZE);
}

/*
 * Count the blocks beyond the file's end by themselves. Where fewer are new than
 * were asked for, the program has reserved space there, and keeps it.
 */
static int reserve(struct kadapt_path *path, loff_t from, size_t wanted)
{
	loff_t end = min_t(loff_t, from + wanted, highest_offset(path));
	loff_t beyond = clamp_t(loff_t, beyond_end(path), from, end);
	loff_t before;
	int error;

	/* Beyond the limit even to ask brings SIGXFSZ. */
	if (from >= end)
		return -EFBIG;
	error = allocate(path, from, beyond);
	before = inode_get_bytes(inode_of(path));
	error = error ?: allocate(path, beyond, end);
	if (error)
		return error;
	path->reserved = end;
	if (inode_get_bytes(inode_of(path)) - before < end - beyond)
		path->keeps_space = true;
	return 0;
}

/* What can't be had whole may be had in part; the last pages count. */
static void reserve_what_is_there(struct kadapt_path *path, loff_t from,
				  size_t bytes)
{
	for (; bytes >= PAGE_SIZE; bytes /= 2)
		if (!reserve(path, from, bytes))
			return;
}

/*
 * Have space from @position on: a part of what this binding has written, as the
 * more came, the more will. What was reserved in vain costs twice, to have and
 * to give back.
 */
static void reserve_ahead(struct kadapt_path *path, loff_t position)
{
	size_t bytes = clamp_t(u64, (path->head - path->bound_head) / 4,
			       FIRST_RESERVE, LARGEST_RESERVE);

	if (path->reserved - position < LEAST_RESERVE)
		reserve_what_is_there(path, max(path->reserved, position),
				      round_up(bytes, PAGE_SIZE));
}

static bool is_synchronous(const struct kadapt_path *path)
{
	return path->file->f_flags & (O_DIRECT | O_DSYNC) ||
	       IS_SYNC(inode_of(path));
}

/* Does the file system reserve? Asked with the first reservation. */
static int probe_reservation(struct kadapt_path *path)
{
	int error;

	path->first = position_of(path);
	error = reserve(path, path->first, FIRST_RESERVE);
	return error == -EOPNOTSUPP ? error : 0;
}

/* Under a spinlock. What is no call of a task's waits for the worker. */
static void lease_broken(struct kadapt_lease *lease)
{
	struct kadapt_path *path =
		container_of(lease, struct kadapt_path, lease);

	if (!kadapt_guard_broken(path))
		kadapt_region_request(&path->region, KADAPT_REQUEST_UNBIND);
}

/* To give back what was reserved changes the file as a truncate(2) does. */
static bool empties_itself(const struct kadapt_lease *lease)
{
	return kadapt_path_is_held(container_of(lease, struct kadapt_path,
						lease));
}

/* The path outlives the lease, as the binding refers to both. */
static int take_lease(struct kadapt_path *path)
{
	path->lease.broken = lease_broken;
	path->lease.owns = empties_itself;
	return kadapt_lease_take(&path->lease, path->file);
}

/*
 * Calls of files without iterators, as of /proc, are guarded by nobody. Nor is
 * FICLONERANGE, which asks the source's operations to change the destination.
 */
static bool can_be_guarded(const struct file *file)
{
	const struct file_operations *operations = file->f_op;

	return operations->write_iter && !operations->read &&
	       !operations->write && !operations->remap_file_range;
}

static int check_file(const struct kadapt_path *path)
{
	const struct file *file = path->file;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!S_ISREG(file_inode(file)->i_mode) ||
	    !(file->f_mode & FMODE_CAN_WRITE) || !can_be_guarded(file))
		return -EMEDIUMTYPE;
	if (is_synchronous(path))
		return -EBADFD;
	return file_count(file) == UNSHARED ? 0 : -ENOTUNIQ;
}

int kadapt_file_bind(struct kadapt_path *path)
{
	int error = check_file(path);

	if (error)
		return error;
	path->size_limit = rlimit(RLIMIT_FSIZE);
	path->reserved = 0;
	path->keeps_space = false;
	error = take_lease(path);
	if (error)
		return error;
	error = probe_reservation(path) ?: kadapt_guard(path);
	if (error)
		kadapt_lease_return(&path->lease);
	return error;
}

/* As generic_write_checks() would, which knows the worker's limit only. */
static int cut_to_limit(struct kadapt_path *path, struct iov_iter *from,
			loff_t position)
{
	loff_t highest = highest_offset(path);

	if (position >= highest)
		return -EFBIG;
	iov_iter_truncate(from, highest - position);
	return 0;
}

/* In the midst of a write to the same file, which passed its checks. */
static ssize_t write_as_allowed(struct kadapt_path *path, struct iov_iter *from,
				loff_t *position)
{
	struct kiocb request;
	ssize_t written;

	init_sync_kiocb(&request, path->file);
	request.ki_pos = *position;
	written = kadapt_unguarded(path->file)->write_iter(&request, from);
	*position = request.ki_pos;
	if (written > 0)
		fsnotify_modify(path->file);
	return written;
}

static ssize_t write_from(struct kadapt_path *path, struct iov_iter *from,
			  loff_t *position)
{
	int error = cut_to_limit(path, from, *position);

	if (error)
		return error;
	return path->may_write ? write_as_allowed(path, from, position) :
				 vfs_iter_write(path->file, from, position, 0);
}

ssize_t kadapt_file_write(struct kadapt_path *path, struct iov_iter *from)
{
	struct file *file = path->file;
	loff_t position;
	ssize_t written;

	mutex_lock(&file->f_pos_lock);
	position = position_of(path);
	written = write_from(path, from, &position);
	if (written > 0)
		file->f_pos = position;
	mutex_unlock(&file->f_pos_lock);
	return written;
}

size_t kadapt_file_room(struct kadapt_path *path, size_t wanted)
{
	loff_t position = position_of(path);
	loff_t end;

	/* Somebody got at the open file: by fork(2) or dup(2). */
	if (file_count(path->file) > UNSHARED)
		return 0;
	reserve_ahead(path, position);
	end = min(highest_offset(path), path->reserved);
	return end > position ? min_t(u64, wanted, end - position) : 0;
}

/* truncate(2) to the size that the file has, which must not show in its times. */
static void truncate_to_size(struct kadapt_path *path)
{
	struct inode *inode = inode_of(path);
	struct iattr change = {
		.ia_valid = ATTR_SIZE | ATTR_FILE,
		.ia_size = i_size_read(inode),
		.ia_file = path->file,
	};
	struct compat_times times = compat_times_of(inode);

	if (notify_change(file_mnt_idmap(path->file), file_dentry(path->file),
			  &change, NULL))
		return;
	compat_set_times(inode, times);
	mark_inode_dirty(inode);
}

/*
 * Give back what was reserved beyond the end. Not where no record came and the
 * position lies beyond the end: the blocks between were not counted, and may be
 * the program's.
 */
static void trim(struct kadapt_path *path)
{
	struct inode *inode = inode_of(path);
	loff_t size;

	file_start_write(path->file);
	inode_lock(inode);
	size = i_size_read(inode);
	if (path->reserved > size && path->first <= size)
		truncate_to_size(path);
	inode_unlock(inode);
	file_end_write(path->file);
}

void kadapt_file_unbind(struct kadapt_path *path)
{
	if (path->reserved && !path->keeps_space)
		trim(path);
	kadapt_lease_return(&path->lease);
	kadapt_unguard(path);
}
