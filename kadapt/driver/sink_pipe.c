// SPDX-License-Identifier: GPL-2.0-only
/* Rings bound to pipes. */
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/pipe_fs_i.h>
#include <linux/uio.h>

#include "path.h"

static struct pipe_inode_info *pipe_of(const struct kadapt_path *path)
{
	return path->file->private_data;
}

/*
 * Records of several writers don't interleave while each is one small write;
 * what leaves a ring is not. So there must be no other writer: no other open
 * file, and no other descriptor of this one. The references are the program's
 * table's and ours.
 */
static int pipe_bind(struct kadapt_path *path)
{
	if (file_count(path->file) != 2 || READ_ONCE(pipe_of(path)->writers) != 1)
		return -ENOTUNIQ;
	return 0;
}

static ssize_t pipe_write(struct kadapt_path *path, struct iov_iter *from)
{
	struct kiocb request;
	ssize_t written;

	/* The pipe itself would send SIGPIPE, to whoever drains. */
	if (!READ_ONCE(pipe_of(path)->readers))
		return -EPIPE;
	init_sync_kiocb(&request, path->file);
	request.ki_flags |= IOCB_NOWAIT;
	written = path->file->f_op->write_iter(&request, from);
	if (written > 0)
		fsnotify_modify(path->file);
	return written;
}

static size_t pipe_room(struct kadapt_path *path, size_t wanted)
{
	struct pipe_inode_info *pipe = pipe_of(path);
	unsigned int used, most;

	mutex_lock(&pipe->mutex);
	used = pipe_occupancy(pipe->head, pipe->tail);
	most = pipe->max_usage;
	mutex_unlock(&pipe->mutex);
	return used < most ? min(wanted, (size_t)(most - used) << PAGE_SHIFT) : 0;
}

const struct kadapt_sink kadapt_pipe_sink = {
	.is_stream = true,
	.bind = pipe_bind,
	.write = pipe_write,
	.room = pipe_room,
};
