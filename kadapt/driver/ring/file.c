// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bound file: its checks, its position, and space that is reserved before
 * records are accepted. So the program's write(2) meets a full disk, not the
 * drain.
 */
#include <linux/blk_types.h>
#include <linux/fs.h>
/* falloc.h does not include what it uses. */
#include <linux/falloc.h>
#include <linux/fsnotify.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/stat.h>
#include <linux/uio.h>

#include "base/compat.h"
#include "ring/ring.h"

/* Reservations grow with the burst, so that a short burst reserves little. */
#define FIRST_RESERVE SZ_16K
#define LARGEST_RESERVE SZ_1M
/* Reserve more when less than this is left. The longest record fits into it. */
#define LEAST_RESERVE SZ_16K

/*
 * ext4's map takes at most 1/341 of a file: 12 bytes of a block of 4096 for
 * each block. The inode itself holds the map of a small file.
 */
#define FILE_MAP_SHARE 256

/* The references of the descriptor table and of the binding. */
#define UNSHARED 2

static struct inode *inode_of(const struct kadapt_ring *ring)
{
	return file_inode(ring->file);
}

/* Where the next byte goes. */
static loff_t position_of(const struct kadapt_ring *ring)
{
	if (ring->file->f_flags & O_APPEND)
		return i_size_read(inode_of(ring));
	return READ_ONCE(ring->file->f_pos);
}

/* No byte may be accepted from this offset on. */
static loff_t highest_offset(const struct kadapt_ring *ring)
{
	u64 limit = min_t(u64, ring->size_limit,
			  inode_of(ring)->i_sb->s_maxbytes);

	if (!(ring->file->f_flags & O_LARGEFILE))
		limit = min_t(u64, limit, MAX_NON_LFS);
	return limit;
}

static int allocate(struct kadapt_ring *ring, loff_t from, loff_t end)
{
	const struct cred *saved;
	int error;

	if (from >= end)
		return 0;
	saved = override_creds(ring->cred);
	error = vfs_fallocate(ring->file, FALLOC_FL_KEEP_SIZE, from,
			      end - from);
	revert_creds(saved);
	return error;
}

/* From this offset on, the file has only blocks that somebody reserved. */
static loff_t beyond_end(const struct kadapt_ring *ring)
{
	return round_up(i_size_read(inode_of(ring)), PAGE_SIZE);
}

/*
 * Reserve the blocks beyond the file's end separately and count them. If fewer
 * are new than were asked for, the program reserved space there itself, and
 * keeps it.
 */
static int reserve(struct kadapt_ring *ring, loff_t from, size_t wanted)
{
	loff_t end = min_t(loff_t, from + wanted, highest_offset(ring));
	loff_t beyond = clamp_t(loff_t, beyond_end(ring), from, end);
	loff_t before;
	int error;

	/* Beyond the limit vfs_fallocate() would send SIGXFSZ. */
	if (from >= end)
		return -EFBIG;
	error = allocate(ring, from, beyond);
	before = inode_get_bytes(inode_of(ring));
	error = error ?: allocate(ring, beyond, end);
	if (error)
		return error;
	ring->reserved = end;
	if (inode_get_bytes(inode_of(ring)) - before < end - beyond)
		ring->keeps_space = true;
	return 0;
}

/* On a nearly full disk a smaller reservation may succeed, down to a page. */
static void reserve_what_is_there(struct kadapt_ring *ring, loff_t from,
				  size_t bytes)
{
	for (; bytes >= PAGE_SIZE; bytes /= 2)
		if (!reserve(ring, from, bytes))
			return;
}

/*
 * Reserve space from @position on, a quarter of what this binding has written:
 * a long burst is likely to go on. Space that is reserved in vain costs twice,
 * when it is reserved and when it is given back.
 */
static void reserve_ahead(struct kadapt_ring *ring, loff_t position)
{
	size_t bytes = clamp_t(u64, (ring->head - ring->bound_head) / 4,
			       FIRST_RESERVE, LARGEST_RESERVE);

	if (ring->reserved - position < LEAST_RESERVE)
		reserve_what_is_there(ring, max(ring->reserved, position),
				      round_up(bytes, PAGE_SIZE));
}

static bool is_synchronous(const struct kadapt_ring *ring)
{
	return ring->file->f_flags & (O_DIRECT | O_DSYNC) ||
	       IS_SYNC(inode_of(ring));
}

/*
 * Whether blocks beyond the file's end are reserved, which trimming would free.
 * The blocks of a file system's map of the file count as the file's.
 */
static bool has_space_beyond_end(const struct kadapt_ring *ring)
{
	u64 size = i_size_read(inode_of(ring));
	u64 map = size < SZ_1M ? 0 : PAGE_SIZE + size / FILE_MAP_SHARE;
	struct kstat status;

	return vfs_getattr_nosec(&ring->file->f_path, &status, STATX_BLOCKS,
				 AT_STATX_SYNC_AS_STAT) ||
	       status.blocks << SECTOR_SHIFT > round_up(size, PAGE_SIZE) + map;
}

/*
 * Records go to the file's end only: reserving inside the file would fill
 * holes. The first reservation shows whether the file system can reserve.
 */
int kadapt_file_probe(struct kadapt_ring *ring)
{
	int error;

	ring->first = position_of(ring);
	if (ring->first != i_size_read(inode_of(ring)))
		return -ESPIPE;
	if (has_space_beyond_end(ring))
		return -ENOTEMPTY;
	error = reserve(ring, ring->first, FIRST_RESERVE);
	return error == -EOPNOTSUPP ? error : 0;
}

/*
 * The guard has no operations for files without iterators, as in /proc. Nor can
 * it see FICLONERANGE, which calls the source's operations to change the
 * destination.
 */
static bool can_be_guarded(const struct file *file)
{
	const struct file_operations *operations = file->f_op;

	return operations->write_iter && !operations->read &&
	       !operations->write && !operations->remap_file_range;
}

static int check(const struct kadapt_ring *ring)
{
	const struct file *file = ring->file;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!S_ISREG(file_inode(file)->i_mode) ||
	    !(file->f_mode & FMODE_CAN_WRITE) || !can_be_guarded(file))
		return -EMEDIUMTYPE;
	if (is_synchronous(ring))
		return -EBADFD;
	return file_count(file) == UNSHARED ? 0 : -ENOTUNIQ;
}

int kadapt_file_check(struct kadapt_ring *ring)
{
	ring->size_limit = rlimit(RLIMIT_FSIZE);
	ring->operations = ring->file->f_op;
	ring->reserved = 0;
	ring->keeps_space = false;
	return check(ring);
}

/* As generic_write_checks() does, which would check the worker's limit. */
static int cut_to_limit(struct kadapt_ring *ring, struct iov_iter *from,
			loff_t position)
{
	loff_t highest = highest_offset(ring);

	if (position >= highest)
		return -EFBIG;
	iov_iter_truncate(from, highest - position);
	return 0;
}

/* Called within a write to the same file that has passed the checks. */
static ssize_t write_as_allowed(struct kadapt_ring *ring, struct iov_iter *from,
				loff_t *position)
{
	struct kiocb request;
	ssize_t written;

	init_sync_kiocb(&request, ring->file);
	request.ki_pos = *position;
	written = ring->operations->write_iter(&request, from);
	*position = request.ki_pos;
	if (written > 0)
		fsnotify_modify(ring->file);
	return written;
}

static ssize_t write_from(struct kadapt_ring *ring, struct iov_iter *from,
			  loff_t *position)
{
	int error = cut_to_limit(ring, from, *position);

	if (error)
		return error;
	return ring->may_write ? write_as_allowed(ring, from, position) :
				 vfs_iter_write(ring->file, from, position, 0);
}

ssize_t kadapt_file_write(struct kadapt_ring *ring, struct iov_iter *from)
{
	struct file *file = ring->file;
	loff_t position;
	ssize_t written;

	mutex_lock(&file->f_pos_lock);
	position = position_of(ring);
	written = write_from(ring, from, &position);
	if (written > 0)
		file->f_pos = position;
	mutex_unlock(&file->f_pos_lock);
	return written;
}

size_t kadapt_file_room(struct kadapt_ring *ring, size_t wanted)
{
	loff_t position = position_of(ring);
	loff_t end;

	/* fork(2) or dup(2) has shared the open file. */
	if (file_count(ring->file) > UNSHARED)
		return 0;
	reserve_ahead(ring, position);
	end = min(highest_offset(ring), ring->reserved);
	return end > position ? min_t(u64, wanted, end - position) : 0;
}

/* truncate(2) to the present size, which must not change the file's times. */
static void truncate_to_size(struct kadapt_ring *ring)
{
	struct inode *inode = inode_of(ring);
	struct iattr change = {
		.ia_valid = ATTR_SIZE | ATTR_FILE,
		.ia_size = i_size_read(inode),
		.ia_file = ring->file,
	};
	struct compat_times times = compat_times_of(inode);

	if (notify_change(file_mnt_idmap(ring->file), file_dentry(ring->file),
			  &change, NULL))
		return;
	compat_set_times(inode, times);
	mark_inode_dirty(inode);
}

/* Give back what was reserved beyond the end. */
void kadapt_file_trim(struct kadapt_ring *ring)
{
	struct inode *inode = inode_of(ring);
	loff_t size;

	if (!ring->reserved || ring->keeps_space)
		return;
	file_start_write(ring->file);
	inode_lock(inode);
	size = i_size_read(inode);
	if (ring->reserved > size)
		truncate_to_size(ring);
	inode_unlock(inode);
	file_end_write(ring->file);
}
