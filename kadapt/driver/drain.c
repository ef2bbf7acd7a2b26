// SPDX-License-Identifier: GPL-2.0-only
/*
 * To empty a ring: what lies between its head and its tail is written to the
 * file it is bound to, with the credentials and in the memory control group that
 * it was bound under, whoever does it.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>

#include "path.h"

/*
 * The ring's bytes from the head on. In the program itself they are taken from
 * where it has them mapped, in one piece and with the copy that write(2) has: a
 * quarter of an instruction a byte less, where the processor has no fast string
 * moves. Else, as by the worker, in at most two pieces.
 */
struct content {
	struct iov_iter from;
	struct kvec pieces[2];
};

static size_t offset_of(const struct kadapt_path *path)
{
	return path->head & (path->memory.bytes - 1);
}

/* By the program's own mapping; false where there is none. */
static bool take_mapped(struct kadapt_path *path, size_t bytes,
			struct content *content)
{
	unsigned long address = READ_ONCE(path->memory.address);

	/* One that was never mapped, or no longer is, has no address. */
	if (!address || !atomic_read(&path->region.mappings) ||
	    current->mm != path->region.mm)
		return false;
	return !import_ubuf(ITER_SOURCE,
			    (void __user *)(address + offset_of(path)), bytes,
			    &content->from);
}

static void take(struct kadapt_path *path, size_t bytes,
		 struct content *content)
{
	const struct kadapt_ring_memory *memory = &path->memory;
	size_t offset = offset_of(path);
	size_t first = min(bytes, memory->bytes - offset);

	content->pieces[0] = (struct kvec){ memory->data + offset, first };
	content->pieces[1] = (struct kvec){ memory->data, bytes - first };
	iov_iter_kvec(&content->from, ITER_SOURCE, content->pieces,
		      first < bytes ? 2 : 1, bytes);
}

static ssize_t write_content(struct kadapt_path *path, size_t bytes)
{
	struct content content;
	ssize_t written = -EFAULT;

	if (take_mapped(path, bytes, &content))
		written = path->sink->write(path, &content.from);
	/* The program may have taken the pages out of its mapping. */
	if (written == -EFAULT) {
		take(path, bytes, &content);
		written = path->sink->write(path, &content.from);
	}
	return written;
}

static ssize_t write_some(struct kadapt_path *path, size_t bytes)
{
	const struct cred *saved = override_creds(path->cred);
	struct mem_cgroup *group = set_active_memcg(path->memcg);
	ssize_t written = write_content(path, bytes);

	set_active_memcg(group);
	revert_creds(saved);
	return written ?: -EIO;
}

static void advance(struct kadapt_path *path, size_t bytes)
{
	WRITE_ONCE(path->head, path->head + bytes);
	WRITE_ONCE(path->memory.header->head, path->head);
}

/* All that is in the ring up to @tail goes nowhere. */
static void drop(struct kadapt_path *path, u64 tail)
{
	struct kadapt_ring_header *header = path->memory.header;

	WRITE_ONCE(header->dropped,
		   READ_ONCE(header->dropped) + (tail - path->head));
	advance(path, tail - path->head);
}

/*
 * Nothing more is accepted before it is dropped: what the program appended
 * meanwhile would be left, and go where a later binding leads, behind a gap. The
 * tail only says up to where, so it may be any.
 */
static void drop_all(struct kadapt_path *path)
{
	kadapt_path_refuse(path);
	drop(path, READ_ONCE(path->memory.header->tail));
	kadapt_path_let_go(path);
}

static void keep_error(struct kadapt_path *path, int error)
{
	struct kadapt_ring_header *header = path->memory.header;

	path->error = -error;
	WRITE_ONCE(header->error_offset, path->head);
	WRITE_ONCE(header->error, path->error);
	drop_all(path);
}

/* Interrupted, or no room: the bytes stay, and are tried again. */
static bool is_temporary(ssize_t error)
{
	return error == -EAGAIN || error == -EINTR || error == -ERESTARTSYS ||
	       error == -ERESTARTNOINTR;
}

/* 0 when what lies before @tail is written; else why it is not. */
static int write_until(struct kadapt_path *path, u64 tail)
{
	while (path->head != tail) {
		ssize_t written = write_some(path, tail - path->head);

		if (is_temporary(written))
			return written == -EAGAIN ? -EAGAIN : -EINTR;
		if (written < 0) {
			keep_error(path, written);
			return 0;
		}
		advance(path, written);
	}
	return 0;
}

static void count_drain(struct kadapt_path *path)
{
	struct kadapt_ring_header *header = path->memory.header;

	WRITE_ONCE(header->drains, READ_ONCE(header->drains) + 1);
}

/*
 * Write what the ring holds. 0, also when an error was met, which then is kept;
 * -EAGAIN or -EINTR if something is left; -EINVAL if the tail is no tail, and
 * -ENOLINK if there is nothing to write to.
 *
 * The tail is read once.
 */
int kadapt_path_drain(struct kadapt_path *path)
{
	u64 now = ktime_get_mono_fast_ns();
	/* Pairs with the program's release: what it put there is seen. */
	u64 tail = smp_load_acquire(&path->memory.header->tail);
	int error;

	if (tail == path->head) {
		WRITE_ONCE(path->emptied_ns, now);
		return 0;
	}
	if (tail - path->head > path->memory.bytes) {
		drop_all(path);
		return -EINVAL;
	}
	if (!path->sink)
		return -ENOLINK;
	count_drain(path);
	error = write_until(path, tail);
	path->waiting = error;
	if (!error)
		WRITE_ONCE(path->emptied_ns, now);
	return error;
}

/* Drain and let go; what can't be written stays, and so does the binding. */
int kadapt_path_unbind(struct kadapt_path *path)
{
	int error;

	kadapt_path_refuse(path);
	error = kadapt_path_drain(path);
	if (!error && path->sink)
		kadapt_path_let_go(path);
	return error;
}

/* Give up what is left. */
void kadapt_path_drop(struct kadapt_path *path)
{
	drop_all(path);
}

static int sleep_until_woken(struct poll_wqueues *table, long *patience)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (!table->triggered)
		*patience = schedule_timeout(*patience);
	__set_current_state(TASK_RUNNING);
	/* Before the file is asked again; pairs with pollwake()'s. */
	smp_store_mb(table->triggered, 0);
	if (signal_pending(current))
		return -ERESTARTSYS;
	return *patience ? 0 : -EAGAIN;
}

static int wait_for_room(struct file *file, long patience)
{
	struct poll_wqueues table;
	poll_table *register_with = &table.pt;
	int error = 0;

	poll_initwait(&table);
	while (!error && !(vfs_poll(file, register_with) &
			   (EPOLLOUT | EPOLLERR | EPOLLHUP))) {
		register_with = NULL;
		error = sleep_until_woken(&table, &patience);
	}
	poll_freewait(&table);
	return error;
}

/* Wait until the other end has room again, as write(2) would; without the lock. */
int kadapt_path_wait(struct kadapt_path *path)
{
	const struct kadapt_sink *sink;
	struct file *file;
	int error;

	kadapt_path_lock(path);
	sink = path->sink;
	file = sink ? get_file(path->file) : NULL;
	kadapt_path_unlock(path);
	if (!file)
		return 0;
	if (file->f_flags & O_NONBLOCK)
		error = -EAGAIN;
	else
		error = wait_for_room(file, sink->patience ?
						    sink->patience(file) :
						    MAX_SCHEDULE_TIMEOUT);
	fput(file);
	return error;
}
