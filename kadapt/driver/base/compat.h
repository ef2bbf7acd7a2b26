/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernel series, and all assumptions about the fields
 * of a series' scheduler entity.
 *
 * 6.12 has se->custom_slice and keeps a copy of the deadline in se->vlag for
 * RUN_TO_PARITY: moving the deadline alone ends the protection of the running
 * slice. A series whose scheduler has not been examined counts as one without a
 * slice per task, like the series before 6.12. So does 7.3: its scheduler has
 * another field for the end of the protection and flattens groups, and in the
 * driver's tests neighbours kept waiting after a phase had been left.
 */
#ifndef _KADAPT_COMPAT_H
#define _KADAPT_COMPAT_H

#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/io_uring_types.h>
#include <linux/kconfig.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/user.h>
#include <linux/time64.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

/* The slices that every user may request by sched_setattr(2). */
#define KADAPT_ORDINARY_MIN_NS	(NSEC_PER_MSEC / 10)
#define KADAPT_ORDINARY_MAX_NS	(NSEC_PER_MSEC * 100)

/* A module built out of the tree has no such symbol. */
#ifndef CONFIG_KADAPT_QUANTUM_MAX_MS
#define CONFIG_KADAPT_QUANTUM_MAX_MS 100
#endif

/* Series before 7.3, of which 6.12 is the newest. */
#define COMPAT_IS_OLD (LINUX_VERSION_MAJOR < 7)

/* Older series get the newer name. */
#if COMPAT_IS_OLD
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/*
 * fs/locks.c: older series check for other opens of the file when a lease is
 * set. Newer ones leave the check to the lease's manager. This is the older
 * check.
 */
#if COMPAT_IS_OLD
#define COMPAT_OPEN_CONFLICT
#else
static inline int compat_open_conflict(struct file *file, int type)
{
	struct inode *inode = file_inode(file);
	bool writes = file->f_mode & FMODE_WRITE;
	bool reads = !writes && file->f_mode & FMODE_READ;

	if (type == F_RDLCK)
		return inode_is_open_for_write(inode) ? -EAGAIN : 0;
	if (type == F_WRLCK &&
	    (atomic_read(&inode->i_writecount) != writes ||
	     atomic_read(&inode->i_readcount) != reads))
		return -EAGAIN;
	return 0;
}

#define COMPAT_OPEN_CONFLICT .lm_open_conflict = compat_open_conflict,
#endif

/*
 * Whether the request uses the file's position. io_uring has a flag for this in
 * its own request. The other asynchronous requests, of AIO, have offsets.
 */
#ifdef CONFIG_IO_URING
static inline bool compat_goes_by_position(struct kiocb *request)
{
	return !(request->ki_flags & IOCB_AIO_RW) &&
	       cmd_to_io_kiocb(request)->flags & REQ_F_CUR_POS;
}
#else
static inline bool compat_goes_by_position(struct kiocb *request)
{
	return false;
}
#endif

/* Whether the task has made requests of io_uring. */
#ifdef CONFIG_IO_URING
static inline bool compat_uses_io_uring(const struct task_struct *task)
{
	return READ_ONCE(task->io_uring);
}
#else
static inline bool compat_uses_io_uring(const struct task_struct *task)
{
	return false;
}
#endif

/* linux/tracepoint.h: newer series put a suffix behind the name of a plain one. */
#ifdef DECLARE_TRACE_EVENT
#define COMPAT_DECLARE_TRACE DECLARE_TRACE_EVENT
#else
#define COMPAT_DECLARE_TRACE DECLARE_TRACE
#endif

/*
 * An instruction that does nothing and carries a number, nopl 0x4b4150NN(%rax).
 * Only x86 machines run in QEMU with a plugin that reads it.
 */
static __always_inline void compat_mark(const int number)
{
#ifdef CONFIG_X86
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, 0x50, 0x41, 0x4b"
		     : : "i" (number) : "memory");
#endif
}

/* linux/fileattr.h: later series gave the structure a name of its own. */
#if COMPAT_IS_OLD
#define compat_fileattr fileattr
#else
#define compat_fileattr file_kattr
#endif

/*
 * The times that a change of the file sets. Before 6.7 they are plain members.
 */
struct compat_times {
	struct timespec64 modified;
	struct timespec64 changed;
};

#if LINUX_VERSION_MAJOR < 6 || \
	(LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL < 7)
static inline struct compat_times compat_times_of(const struct inode *inode)
{
	return (struct compat_times){ inode->i_mtime, inode->i_ctime };
}

static inline void compat_set_times(struct inode *inode,
				    struct compat_times times)
{
	inode->i_mtime = times.modified;
	inode->i_ctime = times.changed;
}
#else
static inline struct compat_times compat_times_of(const struct inode *inode)
{
	return (struct compat_times){ inode_get_mtime(inode),
				      inode_get_ctime(inode) };
}

static inline void compat_set_times(struct inode *inode,
				    struct compat_times times)
{
	inode_set_mtime_to_ts(inode, times.modified);
	inode_set_ctime_to_ts(inode, times.changed);
}
#endif

/* Newer series have an operation that describes a mapping in advance. */
#if COMPAT_IS_OLD
#define COMPAT_HAS_MMAP_PREPARE 0
#else
#define COMPAT_HAS_MMAP_PREPARE 1
#endif

/* Returns when every task has left the code that it was in at the call. */
static inline void compat_wait_for_tasks(void)
{
#ifdef CONFIG_TASKS_RCU
	synchronize_rcu_tasks();
#endif
}

/*
 * linux/sched/user.h: a user has a count of pinned pages if the kernel has a
 * feature that needs one. In other kernels one count serves all users.
 */
#if defined(CONFIG_NET) || defined(CONFIG_IO_URING) || \
	defined(CONFIG_SECRETMEM) || IS_ENABLED(CONFIG_IOMMUFD)
static inline atomic_long_t *compat_pinned(struct user_struct *user)
{
	return &user->locked_vm;
}
#else
#define COMPAT_COUNTS_PINNED
extern atomic_long_t kadapt_pinned;

static inline atomic_long_t *compat_pinned(struct user_struct *user)
{
	return &kadapt_pinned;
}
#endif

#if LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL == 12

#define COMPAT_HAS_SLICE true

#ifdef CONFIG_FAIR_GROUP_SCHED
static inline struct sched_entity *compat_parent(struct sched_entity *se)
{
	return READ_ONCE(se->parent);
}
#else
static inline struct sched_entity *compat_parent(struct sched_entity *se)
{
	return NULL;
}
#endif

/* kernel/sched/sched.h: NICE_0_LOAD on 64-bit machines is 1 << this. */
#define COMPAT_NICE_0_LOAD_SHIFT (2 * SCHED_FIXEDPOINT_SHIFT)

/* A slice in the entity's virtual time; at most 10 s << 20, which fits. */
static inline s64 compat_virtual(const struct sched_entity *se, u64 slice)
{
	return div64_ul(slice << COMPAT_NICE_0_LOAD_SHIFT,
			max(READ_ONCE(se->load.weight), 1UL));
}

static inline u64 compat_slice(const struct sched_entity *se)
{
	return READ_ONCE(se->slice);
}

static inline bool compat_slice_is_custom(const struct sched_entity *se)
{
	return READ_ONCE(se->custom_slice);
}

static inline void compat_set_slice(struct sched_entity *se, u64 slice,
				    bool custom)
{
	/* Without custom_slice the next deadline takes the system's slice. */
	WRITE_ONCE(se->custom_slice, custom);
	WRITE_ONCE(se->slice, slice);
}

/*
 * Let the entity that was just picked run for this long, and extend its
 * protection. The slice changes, too: a waking task with a shorter slice may
 * preempt. It is not a custom slice, so the next deadline, and a child's first
 * one, come from the system's slice.
 */
static inline void compat_grant(struct sched_entity *se, u64 slice)
{
	u64 deadline = READ_ONCE(se->deadline);
	u64 granted = READ_ONCE(se->vruntime) + compat_virtual(se, slice);
	bool protected = READ_ONCE(se->vlag) == deadline;

	if (!READ_ONCE(se->on_rq))
		return;
	WRITE_ONCE(se->slice, slice);
	WRITE_ONCE(se->deadline, granted);
	if (protected)
		WRITE_ONCE(se->vlag, granted);
}

/*
 * Move the deadline to at most @slice from now, never further away. A sleeping
 * entity gets a new deadline when it wakes. An entity in another scheduling
 * class keeps its deadline relative to vruntime.
 */
static inline void compat_pull_deadline(struct sched_entity *se, u64 slice)
{
	s64 vslice = compat_virtual(se, slice);
	u64 vruntime = READ_ONCE(se->vruntime);
	u64 deadline = READ_ONCE(se->deadline);

	if (READ_ONCE(se->rel_deadline)) {
		if ((s64)deadline > vslice)
			WRITE_ONCE(se->deadline, vslice);
	} else if (READ_ONCE(se->on_rq)) {
		if ((s64)(deadline - vruntime) > vslice)
			WRITE_ONCE(se->deadline, vruntime + vslice);
	}
}

#else

#define COMPAT_HAS_SLICE false

static inline struct sched_entity *compat_parent(struct sched_entity *se)
{
	return NULL;
}

static inline u64 compat_slice(const struct sched_entity *se)
{
	return 0;
}

static inline bool compat_slice_is_custom(const struct sched_entity *se)
{
	return false;
}

static inline void compat_set_slice(struct sched_entity *se, u64 slice,
				    bool custom)
{
}

static inline void compat_grant(struct sched_entity *se, u64 slice)
{
}

static inline void compat_pull_deadline(struct sched_entity *se, u64 slice)
{
}

#endif

#endif /* _KADAPT_COMPAT_H */
