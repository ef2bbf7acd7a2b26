/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring and its binding. The files of this folder share this header:
 *
 *	calls.c		the ioctls, and the end of a process
 *	mapping.c	the program's mapping
 *	bind.c		the begin of a binding
 *	guard.c		the guards of bound files
 *	guarded.c	the operations in front of a bound file's own
 *	touch.c		what these do when somebody touches the file
 *	worker.c	the timer, and the worker that it wakes
 *	table.c		the rings of a process by number, and references
 *	drain.c		writing the contents to the file; the end of a binding
 *	header.c	what the program may append
 *	bound.c		the bound rings by file
 *	file.c		the bound file: position, limits, reserved space
 *	lease.c		the delegation on the bound file
 *	memory.c	the pages
 *
 * Each file uses only files that are below it in this list.
 *
 * Locking, outermost first: ring.lock, then the locks that a write to the file
 * takes. The timer and the lease's break run without ring.lock; the fields that
 * they read are marked.
 *
 * Lifetime. The table, each mapping, queued work and the binding hold a
 * reference each. The ring ends when the program unmaps it or closes the
 * device: the driver then unbinds the ring and removes it from the table. Only
 * the binding holds the program's open file, and the binding ends before the
 * last other reference does.
 */
#ifndef _KADAPT_RING_H
#define _KADAPT_RING_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "ring/lease.h"
#include "uapi/kadapt.h"

/* A process can have this many rings. */
#define KADAPT_RINGS_MAX 256

struct cred;
struct file;
struct iov_iter;
struct kadapt_client;
struct kadapt_ring;
struct mem_cgroup;
struct page;
struct user_struct;
struct vm_area_struct;

/* The pages of a ring: the header's page, then the data's pages. */
struct kadapt_ring_memory {
	struct kadapt_ring_header *header;
	char *data;
	size_t bytes;			/* of data; a power of two */
	unsigned long address;		/* of the data in the program, or 0 */
	struct page **pages;
	unsigned int count;
	struct user_struct *user;	/* its RLIMIT_MEMLOCK is charged */
};

/* What the timer remembers between two expirations. */
struct kadapt_idleness {
	u64 tail;
	unsigned int looks;
};

struct kadapt_ring {
	struct kref refs;
	struct kadapt_client *client;
	struct mm_struct *mm;		/* the program's; not a user of it */
	u32 number;			/* in client->rings */
	atomic_t mappings;		/* in the program: 1, or 2 in mremap(2) */
	unsigned long requests;		/* KADAPT_REQUEST_*, atomic */
	struct work_struct work;
	struct kadapt_ring_memory memory;
	struct hrtimer timer;		/* runs while bound */
	unsigned int looks;		/* after the timer woke the worker */

	struct task_struct *holder;	/* of the lock; compared with current */
	struct hlist_node bound;	/* bound.c: by file, while guarded */

	struct mutex lock;		/* protects all that follows */
	struct file *file;		/* NULL: not bound */
	const struct file_operations *operations;	/* the file's own */
	const struct inode_operations *inode_operations; /* likewise */
	const struct cred *cred;
	struct mem_cgroup *memcg;
	u64 size_limit;			/* RLIMIT_FSIZE when it was bound */
	u32 mark;
	u64 delay_ns;
	loff_t first;			/* where the first record goes */
	loff_t reserved;		/* space is reserved up to this offset */
	size_t unaccounted;		/* written, not yet in /proc/PID/io */
	u64 bound_head;			/* the head when it was bound */
	bool keeps_space;		/* the program reserved space itself */
	bool may_write;			/* file_start_write() has been called */
	struct kadapt_lease lease;
	bool closed;			/* appends fail */
	bool ended;			/* it can't be bound again */
	u64 head;			/* read by the timer */
	u64 emptied_ns;			/* read by the timer */
	int error;			/* kept; positive */
	struct kadapt_idleness idleness; /* used by the timer only */
};

/* The program's mapping is gone: end the ring. */
#define KADAPT_REQUEST_END	0
/* The lease is being broken, or nobody else has the file open: unbind. */
#define KADAPT_REQUEST_UNBIND	1

static inline void kadapt_ring_lock(struct kadapt_ring *ring)
{
	mutex_lock(&ring->lock);
	WRITE_ONCE(ring->holder, current);
}

static inline void kadapt_ring_unlock(struct kadapt_ring *ring)
{
	WRITE_ONCE(ring->holder, NULL);
	mutex_unlock(&ring->lock);
}

/* Whether the calling task holds the lock. */
static inline bool kadapt_ring_is_held(const struct kadapt_ring *ring)
{
	return READ_ONCE(ring->holder) == current;
}

static inline bool kadapt_ring_is_bound(const struct kadapt_ring *ring)
{
	return READ_ONCE(ring->file);
}

/* table.c */
void kadapt_ring_get(struct kadapt_ring *ring);
void kadapt_ring_put(struct kadapt_ring *ring);
/*
 * Give a new ring a number. The table takes over the reference, also on error.
 */
int kadapt_ring_publish(struct kadapt_ring *ring);
/* The ring of this number, with a reference; NULL if there is none. */
struct kadapt_ring *kadapt_ring_find_any(struct kadapt_client *client,
					 unsigned long number);
/* The same for a call of the program: -ENOENT, or -EPERM after exec(). */
struct kadapt_ring *kadapt_ring_find(struct kadapt_client *client,
				     unsigned long number);
/* Take it out of the table: the program can't name it from here on. */
void kadapt_ring_remove(struct kadapt_ring *ring);

/* memory.c */
int kadapt_ring_memory_allocate(struct kadapt_ring_memory *memory,
				size_t bytes);
void kadapt_ring_memory_free(struct kadapt_ring_memory *memory);
int kadapt_ring_memory_map(struct kadapt_ring_memory *memory,
			   struct vm_area_struct *vma);
size_t kadapt_ring_memory_map_bytes(size_t bytes);
/* The page of this number in the mapping, with a reference. */
struct page *kadapt_ring_memory_page(const struct kadapt_ring_memory *memory,
				     unsigned long number);

/* mapping.c */
u64 kadapt_ring_map_offset(const struct kadapt_ring *ring);

/* header.c; with the lock held */
/* Let the program append as much as there is room for. */
void kadapt_ring_accept(struct kadapt_ring *ring);
void kadapt_ring_accept_none(struct kadapt_ring *ring);
void kadapt_ring_open(struct kadapt_ring *ring);
void kadapt_ring_close(struct kadapt_ring *ring);
int kadapt_ring_take_error(struct kadapt_ring *ring);

/* bind.c; with the lock held */
int kadapt_ring_bind(struct kadapt_ring *ring, struct kadapt_binding *binding,
		     u64 default_delay_ns);
/* Whether the caller's descriptor means the ring's file, now that it is bound. */
bool kadapt_ring_is_of(const struct kadapt_ring *ring, unsigned int descriptor);

/* drain.c; with the lock held */
int kadapt_ring_drain(struct kadapt_ring *ring);
int kadapt_ring_unbind(struct kadapt_ring *ring);
/* The ring is not bound from here on: what the binding kept is put. */
void kadapt_ring_drop_terms(struct kadapt_ring *ring);

/* worker.c */
void kadapt_ring_worker_prepare(struct kadapt_ring *ring);
void kadapt_ring_timer_start(struct kadapt_ring *ring);
/* Wake the worker. From any context; the caller holds a reference. */
void kadapt_ring_queue(struct kadapt_ring *ring);
void kadapt_ring_request(struct kadapt_ring *ring, unsigned int request);
/* Wake the worker, whose writes no signal interrupts, and wait for it. */
void kadapt_ring_finish(struct kadapt_ring *ring);
/* Unbind the ring for good. */
void kadapt_ring_end(struct kadapt_ring *ring);

/* file.c; with the lock held */
/* Whether the ring can be bound to ring->file: 0 or an error. */
int kadapt_file_check(struct kadapt_ring *ring);
int kadapt_file_probe(struct kadapt_ring *ring);
/* Returns the bytes written, or an error of write(2). */
ssize_t kadapt_file_write(struct kadapt_ring *ring, struct iov_iter *from);
/* Returns the bytes that may be accepted now, at most @wanted. */
size_t kadapt_file_room(struct kadapt_ring *ring, size_t wanted);
void kadapt_file_trim(struct kadapt_ring *ring);

#endif /* _KADAPT_RING_H */
