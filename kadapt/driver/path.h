/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An I/O path: a ring, and what it is bound to. Shared by the files that make
 * it up: path.c (the calls), ring_memory.c (the ring's memory), binding.c (to
 * bind, to let go), drain.c (to empty it), drainer.c (the timer and the worker),
 * sink_*.c (regular files, pipes, sockets).
 *
 * Locking, outermost first: path.lock, then whatever writing to the file takes.
 * path.lock is never held while the other end of a stream is waited for, so it
 * is held no longer than a write to a disk takes. What the timer and the lease's
 * break look at without the lock is marked.
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

/* A kind of file that a ring can be bound to. */
struct kadapt_sink {
	bool is_stream;
	/* May the ring be bound to path->file? Sets what else it needs. */
	int (*bind)(struct kadapt_path *path);
	/*
	 * Write, waiting for nobody's other end; bytes, or an error of
	 * write(2)'s, -EAGAIN where there is no room.
	 */
	ssize_t (*write)(struct kadapt_path *path, struct iov_iter *from);
	/* Bytes that may be accepted now, at most @wanted. */
	size_t (*room)(struct kadapt_path *path, size_t wanted);
	/* How long write(2) would wait for room, in jiffies; or NULL: for ever. */
	long (*patience)(struct file *file);
	void (*unbind)(struct kadapt_path *path);
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
	const struct kadapt_sink *sink;	/* NULL: not bound */
	struct file *file;
	const struct cred *cred;
	struct mem_cgroup *memcg;
	u64 size_limit;			/* RLIMIT_FSIZE when it was bound */
	u32 flags;			/* KADAPT_BIND_* */
	u32 mark;
	u64 delay_ns;
	u64 retry_ns;			/* while a stream has no room */
	loff_t position;		/* with KADAPT_BIND_AT */
	loff_t reserved;		/* space is reserved up to this offset */
	u64 bound_head;			/* where the head was when it was bound */
	bool can_reserve;
	bool keeps_space;		/* some of what was reserved was there */
	bool may_write;			/* file_start_write() has been done */
	struct kadapt_lease lease;
	bool waiting;			/* something is left for want of room */
	bool ended;			/* no further binding */
	u64 head;			/* the timer reads it */
	u64 limit;			/* as told the program */
	u64 emptied_ns;			/* the timer reads it */
	u64 give_up_ns;			/* after the process's end; else 0 */
	int error;			/* kept; positive */
	struct kadapt_idleness idleness; /* the timer's own */
};

/* The lease is being broken, or nobody else has the file open any more. */
#define KADAPT_REQUEST_UNBIND	KADAPT_REQUEST_KIND

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
	return READ_ONCE(path->sink);
}

/* ring_memory.c */
int kadapt_ring_memory_allocate(struct kadapt_ring_memory *memory, size_t bytes);
void kadapt_ring_memory_free(struct kadapt_ring_memory *memory);
struct vm_area_struct;
int kadapt_ring_memory_map(struct kadapt_ring_memory *memory,
			   struct vm_area_struct *vma);
size_t kadapt_ring_memory_map_bytes(size_t bytes);

/* binding.c; all with the lock held */
int kadapt_path_bind(struct kadapt_path *path,
		     struct kadapt_binding *binding, u64 default_delay_ns[2]);
void kadapt_path_let_go(struct kadapt_path *path);
void kadapt_path_accept(struct kadapt_path *path);
void kadapt_path_refuse(struct kadapt_path *path);
int kadapt_path_take_error(struct kadapt_path *path, unsigned long flags);

/* drain.c; with the lock held */
int kadapt_path_drain(struct kadapt_path *path);
int kadapt_path_unbind(struct kadapt_path *path);
void kadapt_path_drop(struct kadapt_path *path);
/* Without it. */
int kadapt_path_wait(struct kadapt_path *path);

/* drainer.c */
void kadapt_drainer_prepare(struct kadapt_path *path);
void kadapt_drainer_start(struct kadapt_path *path);
void kadapt_drainer_stop(struct kadapt_path *path);
void kadapt_drainer_limit(struct kadapt_path *path);
void kadapt_drainer_work(struct kadapt_path *path);

/* sink_file.c, sink_pipe.c, sink_socket.c */
extern const struct kadapt_sink kadapt_file_sink;
extern const struct kadapt_sink kadapt_pipe_sink;
extern const struct kadapt_sink kadapt_socket_sink;

#endif /* _KADAPT_PATH_H */
