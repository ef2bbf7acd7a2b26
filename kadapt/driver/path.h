/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An I/O path: a ring, and the file it is bound to. Shared by the files that make
 * it up: path.c (the calls), ring_memory.c (the ring's memory), binding.c (to
 * bind, to let go), drain.c (to empty it), drainer.c (the timer and the worker),
 * file.c (the file), guard.c (who else touches it).
 *
 * Locking, outermost first: path.lock, then whatever writing to the file takes.
 * What the timer and the lease's break look at without the lock is marked.
 *
 * Lifetime. A path is a region (see region.h), which its binding refers to,
 * too. Only the binding holds the program's open file, and lets it go before the
 * last other reference does.
 */
#ifndef _KADAPT_PATH_H
#define _KADAPT_PATH_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "lease.h"
#include "region.h"
#include "uapi/kadapt.h"

struct cred;
struct file;
struct iov_iter;
struct kadapt_path;
struct mem_cgroup;
struct page;
struct user_struct;

/* The pages of a ring: the header's, then the data's. */
struct kadapt_ring_memory {
	struct kadapt_ring_header *header;
	char *data;
	size_t bytes;			/* of data; a power of two */
	unsigned long address;		/* of it in the program's memory, or 0 */
	struct page **pages;
	unsigned int count;
	struct user_struct *user;	/* whose RLIMIT_MEMLOCK they count against */
};

/* What the timer counts between two looks. */
struct kadapt_idleness {
	u64 tail;
	unsigned int looks;
};

struct kadapt_path {
	struct kadapt_region region;
	struct kadapt_ring_memory memory;
	struct hrtimer timer;		/* runs while bound */

	struct task_struct *holder;	/* of the lock; only itself compares */
	struct hlist_node bound;	/* guard.c: by file, while guarded */

	struct mutex lock;		/* all that follows */
	struct file *file;		/* NULL: not bound */
	const struct cred *cred;
	struct mem_cgroup *memcg;
	u64 size_limit;			/* RLIMIT_FSIZE when it was bound */
	u32 mark;
	u64 delay_ns;
	loff_t first;			/* where the first record goes */
	loff_t reserved;		/* space is reserved up to this offset */
	size_t unaccounted;		/* written, but not as the process's yet */
	u64 bound_head;			/* where the head was when it was bound */
	bool keeps_space;		/* some of what was reserved was there */
	bool may_write;			/* file_start_write() has been done */
	struct kadapt_lease lease;
	bool closed;			/* no append is accepted */
	bool ended;			/* no further binding */
	u64 head;			/* the timer reads it */
	u64 emptied_ns;			/* the timer reads it */
	int error;			/* kept; positive */
	struct kadapt_idleness idleness; /* the timer's own */
};

/* The lease is being broken, or nobody else has the file open any more. */
#define KADAPT_REQUEST_UNBIND	1

static inline void kadapt_path_get(struct kadapt_path *path)
{
	kadapt_region_get(&path->region);
}

static inline void kadapt_path_put(struct kadapt_path *path)
{
	kadapt_region_put(&path->region);
}

static inline void kadapt_path_lock(struct kadapt_path *path)
{
	mutex_lock(&path->lock);
	WRITE_ONCE(path->holder, current);
}

static inline void kadapt_path_unlock(struct kadapt_path *path)
{
	WRITE_ONCE(path->holder, NULL);
	mutex_unlock(&path->lock);
}

/* By the calling task. */
static inline bool kadapt_path_is_held(const struct kadapt_path *path)
{
	return READ_ONCE(path->holder) == current;
}

static inline bool kadapt_path_is_bound(const struct kadapt_path *path)
{
	return READ_ONCE(path->file);
}

/* ring_memory.c */
int kadapt_ring_memory_allocate(struct kadapt_ring_memory *memory, size_t bytes);
void kadapt_ring_memory_free(struct kadapt_ring_memory *memory);
struct vm_area_struct;
int kadapt_ring_memory_map(struct kadapt_ring_memory *memory,
			   struct vm_area_struct *vma);
size_t kadapt_ring_memory_map_bytes(size_t bytes);

/* A page of the mapping, with a reference. */
struct page *kadapt_ring_memory_page(const struct kadapt_ring_memory *memory,
				     unsigned long number);

/* binding.c; all with the lock held */
int kadapt_path_bind(struct kadapt_path *path,
		     struct kadapt_binding *binding, u64 default_delay_ns);
void kadapt_path_let_go(struct kadapt_path *path);
void kadapt_path_accept(struct kadapt_path *path);
void kadapt_path_close(struct kadapt_path *path);
int kadapt_path_take_error(struct kadapt_path *path);

/* drain.c; with the lock held */
int kadapt_path_drain(struct kadapt_path *path);
int kadapt_path_unbind(struct kadapt_path *path);

/* drainer.c */
void kadapt_drainer_prepare(struct kadapt_path *path);
void kadapt_drainer_start(struct kadapt_path *path);
void kadapt_drainer_stop(struct kadapt_path *path);

/* file.c; with the lock held */
/* May the ring be bound to path->file? */
int kadapt_file_bind(struct kadapt_path *path);
/* Bytes written, or an error of write(2)'s. */
ssize_t kadapt_file_write(struct kadapt_path *path, struct iov_iter *from);
/* Bytes that may be accepted now, at most @wanted. */
size_t kadapt_file_room(struct kadapt_path *path, size_t wanted);
void kadapt_file_unbind(struct kadapt_path *path);

#endif /* _KADAPT_PATH_H */
