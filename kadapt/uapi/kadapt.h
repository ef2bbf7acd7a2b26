/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/kadapt: a program tells the kernel which phase it is in.
 *
 *	int fd = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
 *	struct kadapt_query query = {};
 *	struct kadapt_policy compute = { .phase = 0, .quantum_ns = 50000000 };
 *
 *	ioctl(fd, KADAPT_QUERY, &query);	// what can this kernel do?
 *	ioctl(fd, KADAPT_DEFINE, &compute);	// once per phase
 *	ioctl(fd, KADAPT_ENTER, 0);		// phase 0 begins for this thread
 *	ioctl(fd, KADAPT_LEAVE, 0);		// as if it had never begun
 *
 * Whose is what. Policies belong to the open file, and the open file to the
 * process (thread group) that opened it: calls from any other process, a
 * forked child with an inherited descriptor included, get EPERM. A phase and
 * its counters belong to the thread that entered it; no call changes another
 * thread. A thread enters phases through one open file at a time: see EBUSY.
 *
 * Undo. Whatever entering a phase changed is undone when the thread leaves or
 * enters another phase, when the thread ends, and when the owner closes a
 * descriptor of the open file; *any* descriptor, so duplicate it before the
 * first ENTER and not after. A thread other than the one that closes is
 * restored before its next instruction in user mode. exec() keeps the phase
 * unless the descriptor is O_CLOEXEC. A child, process or thread, starts with
 * the default slice and in no phase.
 *
 * Growing. The size of a structure is part of the call's number. A structure
 * longer than the kernel's is accepted if all that the kernel does not know is
 * zero, else E2BIG; one shorter than version 1 gets EINVAL; in between, what is
 * missing counts as zero. What a kernel gives back beyond its own knowledge is
 * zero. Flags a kernel does not know get EINVAL.
 *
 * Errors that every call can give:
 *	EPERM	another process opened this file (not for KADAPT_QUERY)
 *	EFAULT	the argument points to memory the caller does not have
 *	EINVAL	structure shorter than version 1's
 *	E2BIG	a part of the structure that this kernel does not know is not 0
 *	ENOTTY	no such call
 *	ENOMEM	no memory for the kernel's records
 * Errors of open(2) beyond its own: ENOMEM. Who may open it is a matter of the
 * device node's permission, by default root and the group kadapt.
 */
#ifndef _UAPI_KADAPT_H
#define _UAPI_KADAPT_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes only when a call changes its meaning; growth shows in features. */
#define KADAPT_VERSION 1

/*
 * KADAPT_QUERY: what this kernel offers. No further errors.
 */
struct kadapt_query {
	__u32 version;		/* KADAPT_VERSION of the kernel */
	__u32 phases;		/* phase numbers are below this */
	__u64 features;		/* KADAPT_FEATURE_* */
	__u64 quantum_min_ns;	/* nanoseconds; both 0 without the feature */
	__u64 quantum_max_ns;	/* nanoseconds; set by the administrator */
};

/* Policies may carry a quantum. 6.12 has it; earlier series have no slice per task. */
#define KADAPT_FEATURE_QUANTUM 0x1

/*
 * KADAPT_DEFINE: what entering a phase shall do; once per phase, for good.
 *
 *	EINVAL		flags unknown, or phase not below query.phases
 *	EEXIST		this phase has its policy already
 *	EOPNOTSUPP	a quantum, on a kernel without KADAPT_FEATURE_QUANTUM
 *	ERANGE		quantum below quantum_min_ns or above quantum_max_ns
 *
 * A quantum is the time the scheduler lets the thread run, whenever it has
 * switched to it, before it looks at others of the same kind; 0 means the
 * thread's own slice, as it was outside any phase. Entering gives no time by
 * itself, so that entering again and again gains nothing. A thread that wakes
 * competes as by default, and preempts one that uses a longer quantum. When the
 * administrator lowers the limit later, the lower one counts. A slice that the
 * program asks of sched_setattr(2) during the phase takes the quantum's place
 * and stays. Within the thread's CPU control group the quantum holds; what the
 * group as a whole gets against others is for the group's own slice.
 */
struct kadapt_policy {
	__u32 phase;
	__u32 flags;		/* KADAPT_POLICY_*: none yet */
	__u64 quantum_ns;	/* nanoseconds, or 0 */
};

#define KADAPT_POLICY__ALL 0

/*
 * KADAPT_ENTER: the calling thread is now in this phase. The argument is the
 * phase's number itself. Any phase it was in ends. To enter the phase one is
 * in does nothing and is not counted.
 *
 *	ENOENT		the phase has no policy
 *	EBUSY		the thread entered a phase through another open file
 *			that is still open
 *	EOPNOTSUPP	the policy has a quantum and the thread is not of
 *			SCHED_OTHER, SCHED_BATCH or SCHED_IDLE
 * After an error the thread is in the phase it was in before.
 */

/*
 * KADAPT_LEAVE: the calling thread is in no phase; the argument must be 0.
 * Leaving when in no phase succeeds.
 *
 *	EINVAL		the argument is not 0
 */

/*
 * KADAPT_COUNTERS: what happened in one phase; phase and flags are read, the
 * rest is written. The time of a phase that the calling thread is in counts
 * up to now.
 *
 *	EINVAL		flags unknown
 *	ENOENT		the phase has no policy
 */
struct kadapt_counters {
	__u32 phase;
	__u32 flags;		/* KADAPT_COUNTERS_* */
	__u64 entries;		/* how often the phase was entered */
	__u64 time_ns;		/* nanoseconds of CLOCK_MONOTONIC spent in it */
	__u64 voluntary_switches;	/* the thread went to wait */
	__u64 involuntary_switches;	/* the thread was made to yield */
};

/*
 * The sum over all threads that ever entered the phase through this open file,
 * of stays that have ended (the caller's own stay counts up to now), instead
 * of the calling thread's own.
 */
#define KADAPT_COUNTERS_PROCESS 0x1
#define KADAPT_COUNTERS__ALL KADAPT_COUNTERS_PROCESS

#define KADAPT_TYPE 0xC7

#define KADAPT_QUERY	_IOR(KADAPT_TYPE, 0, struct kadapt_query)
#define KADAPT_DEFINE	_IOW(KADAPT_TYPE, 1, struct kadapt_policy)
#define KADAPT_ENTER	_IO(KADAPT_TYPE, 2)
#define KADAPT_LEAVE	_IO(KADAPT_TYPE, 3)
#define KADAPT_COUNTERS	_IOWR(KADAPT_TYPE, 4, struct kadapt_counters)

#endif /* _UAPI_KADAPT_H */
