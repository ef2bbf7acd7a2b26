// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches: one call writes a sequence of pieces of the program's memory.
 *
 * Contiguous pieces go to files and TCP sockets as one write, because no reader
 * can tell the difference. Into anything else each piece goes by itself: a pipe
 * and a UNIX socket accept or refuse a small piece as a whole.
 */
#include <linux/backing-dev.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/net.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/seccomp.h>
#include <linux/shmem_fs.h>
#include <linux/sizes.h>
#include <linux/uio.h>

#include "batch.h"
#include "uapi/kadapt.h"

/* Pieces that are written as one have at most so many bytes. */
#define ONE_WRITE SZ_1M

/* One write of the batch. */
struct stretch {
	u64 address;
	size_t bytes;
};

static int check(const struct kadapt_batch *batch)
{
	u64 span;

	if (batch->flags & ~KADAPT_BATCH__ALL || batch->reserved)
		return -EINVAL;
	if (!batch->size || !batch->count || batch->size > MAX_RW_COUNT)
		return -EINVAL;
	if (check_mul_overflow(batch->stride, batch->count - 1, &span) ||
	    check_add_overflow(span, batch->size, &span) ||
	    check_add_overflow(span, batch->base, &span))
		return -EINVAL;
	return 0;
}

/* A plain file of bytes. A file in /proc takes each write as a command. */
static bool holds_bytes(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return S_ISREG(inode->i_mode) &&
	       (inode->i_sb->s_bdi->capabilities & BDI_CAP_WRITEBACK ||
		shmem_mapping(inode->i_mapping));
}

/* A stream that can also send a part of a small piece, as TCP can. */
static bool is_stream(struct file *file)
{
	struct socket *socket = IS_ENABLED(CONFIG_NET) ? sock_from_file(file) :
							 NULL;

	return IS_ENABLED(CONFIG_NET) && socket &&
	       socket->type == SOCK_STREAM && socket->ops->family != AF_UNIX;
}

/* Pieces that may be written as one. */
static u64 pieces_at_once(const struct kadapt_batch *batch, struct file *file)
{
	if (batch->stride != batch->size ||
	    !(holds_bytes(file) || is_stream(file)))
		return 1;
	return max_t(u64, ONE_WRITE / batch->size, 1);
}

/* Pieces before the end of the program's memory, as a loop would write them. */
static u64 readable_pieces(u64 address, u64 pieces, u64 size)
{
	size_t beyond = fault_in_readable(u64_to_user_ptr(address),
					  pieces * size);

	return max_t(u64, (pieces * size - beyond) / size, 1);
}

static struct stretch next_stretch(const struct kadapt_batch *batch,
				   u64 at_once)
{
	u64 pieces = min(at_once, batch->count - batch->done);
	u64 address = batch->base + batch->done * batch->stride;

	if (pieces > 1)
		pieces = readable_pieces(address, pieces, batch->size);
	return (struct stretch){ address, pieces * batch->size };
}

static ssize_t send_iter(struct socket *socket, struct file *file,
			 struct iov_iter *from, u32 flags)
{
	struct msghdr message = { .msg_iter = *from };

	if (flags & KADAPT_BATCH_NOSIGNAL)
		message.msg_flags |= MSG_NOSIGNAL;
	if (file->f_flags & O_NONBLOCK)
		message.msg_flags |= MSG_DONTWAIT;
	return sock_sendmsg(socket, &message);
}

static ssize_t write_iter(struct file *file, struct iov_iter *from)
{
	bool has_position = !(file->f_mode & FMODE_STREAM);
	ssize_t written;

	if (has_position)
		mutex_lock(&file->f_pos_lock);
	written = vfs_iter_write(file, from, has_position ? &file->f_pos : NULL,
				 0);
	if (has_position)
		mutex_unlock(&file->f_pos_lock);
	return written;
}

static ssize_t write_stretch(struct file *file, struct stretch stretch,
			     u32 flags)
{
	struct socket *socket = IS_ENABLED(CONFIG_NET) ? sock_from_file(file) :
							 NULL;
	struct iov_iter from;
	int error = import_ubuf(ITER_SOURCE, u64_to_user_ptr(stretch.address),
				stretch.bytes, &from);

	if (error)
		return error;
	if (IS_ENABLED(CONFIG_NET) && socket)
		return send_iter(socket, file, &from, flags);
	return write_iter(file, &from);
}

/* Count what was written. Returns true if the batch can go on. */
static bool account(struct kadapt_batch *batch, ssize_t written, size_t wanted)
{
	if (written < 0) {
		batch->error = -written;
		return false;
	}
	batch->done += written / batch->size;
	batch->part = written % batch->size;
	/* A short write that ends between two pieces gives no reason: go on. */
	return written == wanted || (written && !batch->part);
}

static int write_all(struct kadapt_batch *batch, struct file *file)
{
	u64 at_once = pieces_at_once(batch, file);

	while (batch->done < batch->count) {
		struct stretch stretch = next_stretch(batch, at_once);
		ssize_t written = write_stretch(file, stretch, batch->flags);

		if (!account(batch, written, stretch.bytes))
			break;
		/*
		 * The handler runs between two pieces, as it would in a loop.
		 */
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return batch->done || batch->part ? 0 : -batch->error;
}

int kadapt_batch_write(struct kadapt_batch *batch)
{
	struct file *file;
	int error = check(batch);

	if (error)
		return error;
	/* A filter judges calls, and a batch is one call for many. */
	if (seccomp_mode(&current->seccomp))
		return -EPERM;
	file = fget(batch->descriptor);
	if (!file)
		return -EBADF;
	batch->done = 0;
	batch->part = 0;
	batch->error = 0;
	error = file->f_mode & FMODE_WRITE ? write_all(batch, file) : -EBADF;
	fput(file);
	return error;
}
