// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining: what lies between the ring's head and its tail is written to the
 * bound file. Whichever task drains, the credentials and the memory control
 * group are those of the binding.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/xacct.h>
#include <linux/pagemap.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>

#include "phase/client.h"
#include "ring/bound.h"
#include "ring/ring.h"

/*
 * The ring's bytes from the head on. In the program's own context they are one
 * piece of the program's mapping, copied as write(2) copies: that saves a
 * quarter of an instruction per byte on processors without fast string moves.
 * Elsewhere, as in the worker, they are at most two pieces of the kernel's
 * mapping.
 */
struct content {
	struct iov_iter from;
	struct kvec pieces[2];
};

static size_t offset_of(const struct kadapt_ring *ring)
{
	return ring->head & (ring->memory.bytes - 1);
}

/* Take the bytes from the program's mapping; false if it has none. */
static bool take_mapped(struct kadapt_ring *ring, size_t bytes,
			struct content *content)
{
	unsigned long address = READ_ONCE(ring->memory.address);

	if (!address || !atomic_read(&ring->mappings) ||
	    current->mm != ring->mm)
		return false;
	return !import_ubuf(ITER_SOURCE,
			    (void __user *)(address + offset_of(ring)), bytes,
			    &content->from);
}

static void take(struct kadapt_ring *ring, size_t bytes,
		 struct content *content)
{
	const struct kadapt_ring_memory *memory = &ring->memory;
	size_t offset = offset_of(ring);
	size_t first = min(bytes, memory->bytes - offset);

	content->pieces[0] = (struct kvec){ memory->data + offset, first };
	content->pieces[1] = (struct kvec){ memory->data, bytes - first };
	iov_iter_kvec(&content->from, ITER_SOURCE, content->pieces,
		      first < bytes ? 2 : 1, bytes);
}

static ssize_t write_content(struct kadapt_ring *ring, size_t bytes)
{
	struct content content;
	ssize_t written = -EFAULT;

	if (take_mapped(ring, bytes, &content))
		written = kadapt_file_write(ring, &content.from);
	/* The program may have removed pages from its mapping. */
	if (written == -EFAULT) {
		take(ring, bytes, &content);
		written = kadapt_file_write(ring, &content.from);
	}
	return written;
}

static ssize_t write_some(struct kadapt_ring *ring, size_t bytes)
{
	const struct cred *saved = override_creds(ring->cred);
	struct mem_cgroup *group = set_active_memcg(ring->memcg);
	ssize_t written = write_content(ring, bytes);

	set_active_memcg(group);
	revert_creds(saved);
	return written ?: -EIO;
}

/*
 * Count for /proc/PID/io, as write(2) does. What the worker wrote is counted
 * the next time the process drains.
 */
static void account(struct kadapt_ring *ring, size_t written)
{
	ring->unaccounted += written;
	if (!kadapt_client_owned(ring->client))
		return;
	add_wchar(current, ring->unaccounted);
	ring->unaccounted = 0;
}

static void advance(struct kadapt_ring *ring, size_t bytes)
{
	WRITE_ONCE(ring->head, ring->head + bytes);
	WRITE_ONCE(ring->memory.header->head, ring->head);
}

static void count(u64 *counter, u64 more)
{
	WRITE_ONCE(*counter, READ_ONCE(*counter) + more);
}

static u64 tail_of(const struct kadapt_ring *ring)
{
	/* Pairs with the release in the program's append: data before tail. */
	return smp_load_acquire(&ring->memory.header->tail) &
	       ~KADAPT_RING_CLOSED;
}

static bool is_tail(const struct kadapt_ring *ring, u64 tail)
{
	return tail - ring->head <= ring->memory.bytes;
}

/*
 * If this is the last reference, a task may be waiting for the file's lock. In
 * a kernel thread fput() would release the file a tick later.
 */
static void put_file(struct file *file)
{
	if (current->flags & PF_KTHREAD)
		__fput_sync(file);
	else
		fput(file);
}

void kadapt_ring_drop_terms(struct kadapt_ring *ring)
{
	WRITE_ONCE(ring->file, NULL);
	kadapt_ring_accept_none(ring);
	put_cred(ring->cred);
	mem_cgroup_put(ring->memcg);
	ring->cred = NULL;
	ring->memcg = NULL;
}

/* End the binding of a ring that is closed and empty. */
static void end_binding(struct kadapt_ring *ring)
{
	struct file *file = ring->file;

	hrtimer_cancel(&ring->timer);
	kadapt_file_trim(ring);
	kadapt_lease_return(&ring->lease);
	kadapt_bound_remove(ring);
	kadapt_ring_drop_terms(ring);
	put_file(file);
	/*
	 * Never the last reference: the caller, which holds the lock, has one.
	 */
	kadapt_ring_put(ring);
}

/*
 * Close the ring before dropping its contents. A record accepted in between
 * would go to the file of a later binding, behind a gap.
 */
static void drop_all(struct kadapt_ring *ring)
{
	u64 tail;

	kadapt_ring_close(ring);
	tail = tail_of(ring);
	if (is_tail(ring, tail)) {
		count(&ring->memory.header->dropped, tail - ring->head);
		advance(ring, tail - ring->head);
	}
	end_binding(ring);
}

/* fsync(2) reports the error, too, as it reports an error of writeback. */
static void keep_error(struct kadapt_ring *ring, int error)
{
	struct kadapt_ring_header *header = ring->memory.header;

	ring->error = -error;
	mapping_set_error(ring->file->f_mapping, error);
	WRITE_ONCE(header->error_offset, ring->head);
	WRITE_ONCE(header->error, ring->error);
	drop_all(ring);
}

/* The thread is being killed: the bytes stay, and the worker writes them. */
static bool is_temporary(ssize_t error)
{
	return error == -EAGAIN || error == -EINTR || error == -ERESTARTSYS ||
	       error == -ERESTARTNOINTR;
}

/* Returns 0 when all before @tail is written or an error has been kept. */
static int write_until(struct kadapt_ring *ring, u64 tail)
{
	while (ring->head != tail) {
		ssize_t written = write_some(ring, tail - ring->head);

		if (is_temporary(written))
			return -EINTR;
		if (written < 0) {
			keep_error(ring, written);
			return 0;
		}
		count(&ring->memory.header->taken, written);
		account(ring, written);
		advance(ring, written);
	}
	return 0;
}

/*
 * Write what the ring holds. Returns 0, also if an error was met and kept;
 * -EINTR if something is left; -EINVAL if the tail is invalid; -ENOLINK if the
 * ring is not bound.
 *
 * The program can change the tail at any time, so it is read once.
 */
int kadapt_ring_drain(struct kadapt_ring *ring)
{
	u64 now = ktime_get_mono_fast_ns();
	u64 tail = tail_of(ring);
	int error = 0;

	account(ring, 0);
	if (!ring->file)
		return -ENOLINK;
	if (!is_tail(ring, tail)) {
		drop_all(ring);
		return -EINVAL;
	}
	if (tail != ring->head) {
		count(&ring->memory.header->drains, 1);
		error = write_until(ring, tail);
	}
	if (!error)
		WRITE_ONCE(ring->emptied_ns, now);
	return error;
}

/* Drain and end the binding. If something is left, the binding stays. */
int kadapt_ring_unbind(struct kadapt_ring *ring)
{
	int error;

	if (!ring->file)
		return 0;
	kadapt_ring_close(ring);
	error = kadapt_ring_drain(ring);
	if (!error && ring->file)
		end_binding(ring);
	return error;
}
