// SPDX-License-Identifier: GPL-2.0-only
/*
 * To empty a ring: what lies between its head and its tail is written to the
 * file it is bound to, with the credentials and in the memory control group that
 * it was bound under, whoever does it.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/mm.h>
#include <linux/sched/xacct.h>
#include <linux/pagemap.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>

#include "client.h"
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
		written = kadapt_file_write(path, &content.from);
	/* The program may have taken the pages out of its mapping. */
	if (written == -EFAULT) {
		take(path, bytes, &content);
		written = kadapt_file_write(path, &content.from);
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

/* As write(2) does, for /proc/PID/io; of what a worker wrote, when the process comes. */
static void account(struct kadapt_path *path, size_t written)
{
	path->unaccounted += written;
	if (!kadapt_client_owned(path->region.client))
		return;
	add_wchar(current, path->unaccounted);
	path->unaccounted = 0;
}

static void advance(struct kadapt_path *path, size_t bytes)
{
	WRITE_ONCE(path->head, path->head + bytes);
	WRITE_ONCE(path->memory.header->head, path->head);
}

static void count(u64 *counter, u64 more)
{
	WRITE_ONCE(*counter, READ_ONCE(*counter) + more);
}

static u64 tail_of(const struct kadapt_path *path)
{
	/* Pairs with the program's release: what it put before the tail is seen. */
	return smp_load_acquire(&path->memory.header->tail) &
	       ~KADAPT_RING_CLOSED;
}

static bool is_tail(const struct kadapt_path *path, u64 tail)
{
	return tail - path->head <= path->memory.bytes;
}

/*
 * Nothing more is accepted before what is there is dropped: else it would go where
 * a later binding leads, behind a gap.
 */
static void drop_all(struct kadapt_path *path)
{
	u64 tail;

	kadapt_path_close(path);
	tail = tail_of(path);
	if (is_tail(path, tail)) {
		count(&path->memory.header->dropped, tail - path->head);
		advance(path, tail - path->head);
	}
	kadapt_path_let_go(path);
}

/* fsync(2) tells of it, too, as of an error that writing back met. */
static void keep_error(struct kadapt_path *path, int error)
{
	struct kadapt_ring_header *header = path->memory.header;

	path->error = -error;
	mapping_set_error(path->file->f_mapping, error);
	WRITE_ONCE(header->error_offset, path->head);
	WRITE_ONCE(header->error, path->error);
	drop_all(path);
}

/* The thread is being killed: the bytes stay, and a worker writes them. */
static bool is_temporary(ssize_t error)
{
	return error == -EAGAIN || error == -EINTR || error == -ERESTARTSYS ||
	       error == -ERESTARTNOINTR;
}

/* 0 when what lies before @tail is written, or an error has been kept. */
static int write_until(struct kadapt_path *path, u64 tail)
{
	while (path->head != tail) {
		ssize_t written = write_some(path, tail - path->head);

		if (is_temporary(written))
			return -EINTR;
		if (written < 0) {
			keep_error(path, written);
			return 0;
		}
		count(&path->memory.header->taken, written);
		account(path, written);
		advance(path, written);
	}
	return 0;
}

/*
 * Write what the ring holds. 0, also when an error was met, which then is kept;
 * -EINTR if something is left; -EINVAL if the tail is no tail, and -ENOLINK if
 * there is nothing to write to.
 *
 * The tail is read once.
 */
int kadapt_path_drain(struct kadapt_path *path)
{
	u64 now = ktime_get_mono_fast_ns();
	u64 tail = tail_of(path);
	int error = 0;

	account(path, 0);
	if (!path->file)
		return -ENOLINK;
	if (!is_tail(path, tail)) {
		drop_all(path);
		return -EINVAL;
	}
	if (tail != path->head) {
		count(&path->memory.header->drains, 1);
		error = write_until(path, tail);
	}
	if (!error)
		WRITE_ONCE(path->emptied_ns, now);
	return error;
}

/* Drain and let go; what can't be written stays, and so does the binding. */
int kadapt_path_unbind(struct kadapt_path *path)
{
	int error;

	if (!path->file)
		return 0;
	kadapt_path_close(path);
	error = kadapt_path_drain(path);
	if (!error && path->file)
		kadapt_path_let_go(path);
	return error;
}
