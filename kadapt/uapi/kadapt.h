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
#define KADAPT_VERSION 2

/*
 * KADAPT_QUERY: what this kernel offers. No further errors.
 */
struct kadapt_query {
	__u32 version;		/* KADAPT_VERSION of the kernel */
	__u32 phases;		/* phase numbers are below this */
	__u64 features;		/* KADAPT_FEATURE_* */
	__u64 quantum_min_ns;	/* nanoseconds; both 0 without the feature */
	__u64 quantum_max_ns;	/* nanoseconds; set by the administrator */
	__u64 delay_min_ns;	/* shortest delay of a ring; 0 without rings */
	__u32 rings;		/* a process can have so many, or 0 */
	__u32 reserved;		/* 0 */
};

/* Policies may carry a quantum. 6.12 has it; earlier series have no slice per task. */
#define KADAPT_FEATURE_QUANTUM 0x1
/* Rings, KADAPT_RING to KADAPT_UNBIND. 6.12 has them. */
#define KADAPT_FEATURE_RINGS 0x2
/*
 * Timers are precise to delay_min_ns. Without high-resolution timers this is
 * missing, and delay_min_ns is a tick.
 */
#define KADAPT_FEATURE_SHORT_DELAYS 0x4
/* KADAPT_BATCH. */
#define KADAPT_FEATURE_BATCHES 0x8
/* KADAPT_MEMORY. User-Mode Linux has it, from 6.12 on, with the driver built in. */
#define KADAPT_FEATURE_MEMORY 0x20

/*
 * KADAPT_DEFINE: what entering a phase shall do; once per phase, for good.
 *
 *	EINVAL		flags unknown, or phase not below query.phases
 *	EEXIST		this phase has its policy already
 *	EOPNOTSUPP	a quantum, on a kernel without KADAPT_FEATURE_QUANTUM
 *	ERANGE		quantum below quantum_min_ns or above quantum_max_ns;
 *			a delay above KADAPT_DELAY_MAX_NS
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
	__u32 flags;		/* KADAPT_POLICY_* */
	__u64 quantum_ns;	/* nanoseconds, or 0 */
	/* How long a ring that is bound in this phase may hold data; 0: default */
	__u64 file_delay_ns;
};

/*
 * While the thread is in this phase its page faults are served as on any kernel,
 * whatever KADAPT_MEMORY said of the range. Kernels without
 * KADAPT_FEATURE_MEMORY take the flag; there it says what is so anyway.
 */
#define KADAPT_POLICY_MEMORY_PLAIN	0x1
#define KADAPT_POLICY__ALL		0x1

#define KADAPT_FILE_DELAY_NS	5000000ULL
#define KADAPT_DELAY_MAX_NS	1000000000ULL

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
	__u64 minor_faults;	/* page faults served from memory */
	__u64 major_faults;	/* page faults that waited for a disk */
	__u64 populated_bytes;	/* made present by KADAPT_MEMORY beyond what faulted */
};

/*
 * The sum over all threads that ever entered the phase through this open file,
 * of stays that have ended (the caller's own stay counts up to now), instead
 * of the calling thread's own.
 */
#define KADAPT_COUNTERS_PROCESS 0x1
#define KADAPT_COUNTERS__ALL KADAPT_COUNTERS_PROCESS

/*
 * Rings: records that cost a copy instead of a system call.
 *
 * A ring is memory of the kernel's that the program maps. What the program puts
 * into it goes, in order and as it is, to the regular file that the ring is bound
 * to. The program binds a ring when it begins to write, appends without a call,
 * and the kernel lets the file go again by itself when no more comes: a binding
 * lasts for a burst of records, not for the life of the descriptor.
 *
 *	struct kadapt_ring ring = { .bytes = 65536 };
 *	struct kadapt_binding binding = { .descriptor = 5 };
 *	struct kadapt_ring_header *header;
 *	char *data;
 *
 *	ioctl(fd, KADAPT_RING, &ring);
 *	header = mmap(NULL, ring.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
 *		      fd, ring.map_offset);
 *	data = (char *)header + ring.data_offset;
 *	binding.ring = ring.number;
 *	ioctl(fd, KADAPT_BIND, &binding);
 *
 *	// append:
 *	tail = load_acquire(&header->tail);
 *	if (tail + length <= header->limit) {
 *		memcpy(data + tail % ring.bytes, record, length);
 *		if (compare_exchange(&header->tail, tail, tail + length))
 *			// accepted
 *	}
 *	// else make the plain call, or KADAPT_DRAIN
 *
 * The data is mapped twice, one copy behind the other, so that a record never
 * wraps. One thread at a time appends; the program sees to that.
 *
 * When the kernel lets the file go, it sets KADAPT_RING_CLOSED in the tail, in one
 * instruction with reading it. A compare-and-exchange before that was accepted, one
 * after it fails. Each KADAPT_BIND moves the tail, so one that began before it
 * fails, too. A child of fork(2) has the mapping, but memory of its own in it,
 * where the tail is 0: what it would append is not accepted.
 *
 * What is appended leaves the ring at the latest when its delay is over, when
 * the program asks, enters another phase, closes the device, executes another
 * program or dies; and before anybody touches the file. It is not lost by the death
 * of the process, and is in the file before wait(2) in the parent returns. Space
 * for it is reserved before it is accepted: the limit ends where the space ends. So
 * errors that write(2) would have given for want of space are given by the plain
 * write(2) that the program goes on with.
 *
 * An error of the disk's met while the ring is emptied is kept, with the offset at
 * which it happened, and given once by the next KADAPT_DRAIN, KADAPT_BIND or
 * KADAPT_UNBIND of the ring, and by fsync(2) and close(2) of the file. What was in
 * the ring from that offset on is dropped, and the file is let go.
 */
struct kadapt_ring_header {
	__u64 tail;		/* bytes appended; KADAPT_RING_CLOSED */
	__u64 writer;		/* this and the next are the program's own */
	__u64 appends;
	__u64 reserved_1[5];
	/* From here on the kernel writes, whenever it likes. */
	__u64 limit;		/* tail may go up to here without a call */
	__u64 head;		/* as the tail, of bytes taken out or dropped */
	__u64 error_offset;	/* as the head, of the kept error */
	__u32 error;		/* errno kept, or 0 */
	__u32 state;		/* KADAPT_RING_* */
	__u64 drains;		/* times something was taken out */
	__u64 dropped;		/* bytes dropped, ever */
	__u64 taken;		/* bytes written to files, ever */
	__u64 reserved_2;
};

/* In the tail: nothing is accepted before the next KADAPT_BIND. */
#define KADAPT_RING_CLOSED 0x8000000000000000ULL

/* In the state. Bound: the kernel holds the descriptor's file. */
#define KADAPT_RING_BOUND 0x1

/*
 * KADAPT_RING: make one. Unmapping all of it ends it; so does closing the
 * device. The memory is charged to the process's memory control group and
 * counts against the user's RLIMIT_MEMLOCK, as io_uring's.
 *
 *	EINVAL		flags unknown, bytes not a power of two
 *	ERANGE		bytes below KADAPT_RING_MIN or above KADAPT_RING_MAX
 *	EMFILE		query.rings are there already
 *	ENOMEM		also: above RLIMIT_MEMLOCK
 *	EOPNOTSUPP	no KADAPT_FEATURE_RINGS
 *
 * Errors of mmap(2) beyond its own: ENXIO no such ring; EINVAL not all of it,
 * not shared, or mapped already; EPERM not the process that made it.
 */
struct kadapt_ring {
	__u32 bytes;		/* of data; 0: KADAPT_RING_DEFAULT; filled in */
	__u32 flags;		/* none yet */
	__u32 number;		/* filled in from here on */
	__u32 data_offset;	/* in the mapping; the header is at 0 */
	__u64 map_offset;	/* for mmap */
	__u64 map_bytes;
};

#define KADAPT_RING_MIN		4096
#define KADAPT_RING_DEFAULT	65536
#define KADAPT_RING_MAX		1048576

/*
 * KADAPT_BIND: what is appended to the ring goes to the descriptor's open file
 * from here on, at its position. What write(2) checks at each call is checked here;
 * the credentials, the file-size limit and the memory control group are kept as
 * they are now. A ring that is bound is unbound first. The descriptor itself stays
 * the program's; the ring holds its open file only while it is bound.
 *
 * The file is guarded. Whoever does anything to the open file or to the file, by
 * whatever call, of any thread or process, finds what was accepted, and the ring is
 * bound no more; only to look at its size and times leaves it bound.
 *
 *	ENOENT		no such ring
 *	EINVAL		flags or reserved not 0, mark above the ring's size
 *	EBADF		no descriptor, or not open for writing
 *	EMEDIUMTYPE	no regular file; or one that can't be written at an offset
 *			of the caller's, or whose file system shares blocks among
 *			files
 *	EBADFD		open with O_DIRECT, O_SYNC or O_DSYNC, or on a file
 *			system that is mounted so
 *	ENOTUNIQ	the open file is shared: it was duplicated, a child has
 *			it, it is mapped, a thread is in a call on it
 *	ENOLCK		no lease on the file: somebody else has it open, it
 *			belongs to another user, its file system has none, or
 *			its files can be changed from elsewhere, as a network's;
 *			or the program asked for signals on it (fcntl F_SETLEASE,
 *			F_SETOWN)
 *	EOPNOTSUPP	no space can be reserved there
 *	EPERM		the thread is under seccomp(2), which is to judge each of
 *			its writes
 *	ERANGE		the delay is above KADAPT_DELAY_MAX_NS
 *	or the error kept from the binding before
 */
struct kadapt_binding {
	__u32 ring;
	__s32 descriptor;
	__u32 flags;		/* none yet */
	__u32 mark_bytes;	/* accept so much between drains; 0: all */
	/*
	 * At most so late; 0: as the phase's policy says. Filled in; never
	 * below query.delay_min_ns.
	 */
	__u64 delay_ns;
	__u64 reserved;		/* 0 */
};

/*
 * KADAPT_DRAIN: write what is in the ring, and accept more. The argument is the
 * ring's number, or KADAPT_DRAIN_ALL.
 *
 *	ENOENT		no such ring
 *	EINVAL		flags unknown, or the header's tail makes no sense: then
 *			all is dropped and the file is let go
 *	EINTR		something is left: the thread is being killed
 *	ENOLINK		the ring is not bound
 *	or the error kept
 *
 * KADAPT_UNBIND: the same, and let the file go; no error where it is not bound.
 */
/* Every ring of the process, up to the first error; the number is 0. */
#define KADAPT_DRAIN_ALL	0x40000
#define KADAPT_DRAIN__RING	0x0ffff
#define KADAPT_DRAIN__ALL	0x4ffff

/*
 * KADAPT_BATCH: write(2) (send(2) with MSG_NOSIGNAL, with that flag) of `count`
 * pieces of `size` bytes, the first at `base`, each `stride` after the one
 * before; as if by a loop that ends at the first piece that is not written
 * whole.
 *
 *	EINVAL	flags unknown; size or count 0
 *	EBADF	no descriptor, or not open for writing
 *	EPERM	the thread is under seccomp(2)
 *	or what the first piece's write(2) would have given
 *
 * If a later piece fails the call succeeds, with `done` and `part` telling how
 * far it came and `error` why, if that is why. A signal ends the call after the
 * piece at hand, with `error` 0: the caller goes on with the rest.
 */
struct kadapt_batch {
	__s32 descriptor;
	__u32 flags;		/* KADAPT_BATCH_* */
	__u64 base;		/* address */
	__u64 size;		/* bytes */
	__u64 stride;		/* bytes; below size, pieces overlap */
	__u64 count;
	__u64 done;		/* filled in: pieces written whole */
	__u64 part;		/* filled in: bytes of the next piece */
	__s32 error;		/* filled in: errno of the next piece, or 0 */
	__u32 reserved;		/* 0 */
};

#define KADAPT_BATCH_NOSIGNAL	0x1	/* no SIGPIPE */
#define KADAPT_BATCH__ALL	0x1

/*
 * KADAPT_MEMORY: how page faults in a range of the program's addresses are
 * served from here on. A range is about private, anonymous, writable memory,
 * whenever it is mapped there; holes and other memory in it are served as
 * without. So the range may be larger than what is mapped, as for a heap or a
 * stack that will grow. Nothing becomes valid that was not, no protection
 * changes, and the contents of all memory are what they would have been: what a
 * program can see is its resident size, and the time. Ranges belong to the
 * process, whoever of its threads named them, until it executes another program
 * or ends; closing the device leaves them. A child begins without.
 *
 * Only faults of writing are served in bulk: what is read before it was ever
 * written gets the page of zeroes, as without. Where memory is short, be it the
 * machine's or the control group's, faults are served one by one, and pages that
 * were made present but hold nothing but zeroes are taken back before anything is
 * killed for want of memory.
 *
 *	EINVAL		flags unknown; none or more than one of AHEAD, DENSE and
 *			PLAIN; NOW without DENSE; reserved not 0; address,
 *			bytes or chunk_bytes not a multiple of the page size;
 *			chunk_bytes not a power of two; bytes 0; the range goes
 *			beyond the program's addresses
 *	ERANGE		chunk_bytes above KADAPT_MEMORY_CHUNK_MAX
 *	ENOSPC		KADAPT_MEMORY_RANGES are there already
 *	EOPNOTSUPP	no KADAPT_FEATURE_MEMORY
 */
struct kadapt_memory {
	__u64 address;
	__u64 bytes;
	__u32 flags;		/* KADAPT_MEMORY_* */
	__u32 reserved;		/* 0 */
	__u64 chunk_bytes;	/* at most so much at once; 0: default; filled in */
	__u64 done;		/* filled in, with NOW: bytes made present */
};

/*
 * A fault makes as much present ahead of it as is present without a gap behind
 * it (or behind it as ahead, for who writes downwards), up to a chunk: who writes
 * one page after the other gets twice as much each time, who writes here and
 * there gets single pages. Where what was made present ends in a page of zeroes
 * still, the page right behind it comes alone, to see whether the next one
 * follows. What was made present so and has not been reached yet is at most
 * KADAPT_MEMORY_AHEAD_MAX in all of the process.
 * A stack grows as without: nothing below what it reaches is made present.
 */
#define KADAPT_MEMORY_AHEAD	0x1
/* A fault makes the whole chunk around it present: all of it will be written. */
#define KADAPT_MEMORY_DENSE	0x2
/* As if no call had ever named the range. */
#define KADAPT_MEMORY_PLAIN	0x4
/*
 * With DENSE: make present what is mapped of the range now, before it faults. Not
 * to be had where memory is short: see done.
 */
#define KADAPT_MEMORY_NOW	0x8
#define KADAPT_MEMORY__ALL	0xf

/* A later call counts where it overlaps an earlier one. */
#define KADAPT_MEMORY_RANGES		1024
#define KADAPT_MEMORY_CHUNK_DEFAULT	2097152
#define KADAPT_MEMORY_CHUNK_MAX		4194304
#define KADAPT_MEMORY_AHEAD_MAX		33554432

#define KADAPT_TYPE 0xC7

#define KADAPT_QUERY	_IOR(KADAPT_TYPE, 0, struct kadapt_query)
#define KADAPT_DEFINE	_IOW(KADAPT_TYPE, 1, struct kadapt_policy)
#define KADAPT_ENTER	_IO(KADAPT_TYPE, 2)
#define KADAPT_LEAVE	_IO(KADAPT_TYPE, 3)
#define KADAPT_COUNTERS	_IOWR(KADAPT_TYPE, 4, struct kadapt_counters)
#define KADAPT_RING	_IOWR(KADAPT_TYPE, 5, struct kadapt_ring)
#define KADAPT_BIND	_IOWR(KADAPT_TYPE, 6, struct kadapt_binding)
#define KADAPT_DRAIN	_IO(KADAPT_TYPE, 7)
#define KADAPT_UNBIND	_IO(KADAPT_TYPE, 8)
#define KADAPT_BATCH	_IOWR(KADAPT_TYPE, 9, struct kadapt_batch)
#define KADAPT_MEMORY	_IOWR(KADAPT_TYPE, 12, struct kadapt_memory)

#endif /* _UAPI_KADAPT_H */
