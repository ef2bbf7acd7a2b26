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
 * Ownership. Policies belong to the open file. The open file belongs to the
 * process (thread group) that opened it: calls from any other process get
 * EPERM, also from a forked child with an inherited descriptor. A phase and its
 * counters belong to the thread that entered it; no call changes another
 * thread. A thread enters phases through one open file at a time: see EBUSY.
 *
 * Undo. The kernel undoes what entering a phase changed when the thread leaves
 * the phase or enters another, when the thread ends, and when the owner closes
 * *any* descriptor of the open file. So duplicate the descriptor before the
 * first ENTER, not after. Threads other than the one that closes are restored
 * before their next instruction in user mode. exec() keeps the phase unless the
 * descriptor is O_CLOEXEC. A child, process or thread, starts with the default
 * slice and in no phase.
 *
 * Growth. The size of a structure is part of the call's number. The kernel
 * accepts a structure longer than its own if the fields that it does not know
 * are zero; otherwise the call gets E2BIG. A structure shorter than version 1's
 * gets EINVAL. Missing fields count as zero, and fields that the kernel does
 * not know come back as zero. Unknown flags get EINVAL.
 *
 * Errors that every call can give:
 *	EPERM	another process opened this file (not for KADAPT_QUERY)
 *	EFAULT	the argument points to memory the caller does not have
 *	EINVAL	structure shorter than version 1's
 *	E2BIG	a part of the structure that this kernel does not know is not 0
 *	ENOTTY	no such call
 *	ENOMEM	no memory for the kernel's records
 * open(2) can also give ENOMEM. The device node's permissions say who may open
 * it: by default root and the group kadapt.
 */
#ifndef _UAPI_KADAPT_H
#define _UAPI_KADAPT_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes only when a call changes its meaning. Features show growth. */
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
	__u32 rings;		/* most rings of a process, or 0 */
	__u32 reserved;		/* 0 */
};

/*
 * Policies may carry a quantum. 6.12 has it; earlier series have no slice per
 * task.
 */
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
/*
 * KADAPT_MEMORY. User-Mode Linux has it, from 6.12 on, with the driver built
 * in.
 */
#define KADAPT_FEATURE_MEMORY 0x20
/* KADAPT_TAKE. x86_64 kernels with the function tracer's direct calls have it. */
#define KADAPT_FEATURE_UNITS 0x40

/*
 * KADAPT_DEFINE: what entering a phase does. A phase is defined once.
 *
 *	EINVAL		flags unknown, or phase not below query.phases
 *	EEXIST		this phase has its policy already
 *	EOPNOTSUPP	a quantum, on a kernel without KADAPT_FEATURE_QUANTUM
 *	ERANGE		quantum below quantum_min_ns or above quantum_max_ns;
 *			a delay above KADAPT_DELAY_MAX_NS
 *
 * A quantum is the time for which the scheduler lets the thread run, each time
 * it has switched to the thread, before it considers others of the same class.
 * 0 means the thread's own slice outside any phase. Entering gives no time by
 * itself, so entering repeatedly gains nothing. A thread that wakes competes as
 * by default, and preempts a thread with a longer quantum. If the administrator
 * lowers the limit later, the lower limit counts. A slice set by
 * sched_setattr(2) during the phase replaces the quantum and stays. The quantum
 * holds within the thread's CPU control group; the group's own slice decides
 * what the group gets against other groups.
 */
struct kadapt_policy {
	__u32 phase;
	__u32 flags;		/* KADAPT_POLICY_* */
	__u64 quantum_ns;	/* nanoseconds, or 0 */
	/* Delay of rings that are bound in this phase; 0: default */
	__u64 file_delay_ns;
};

/*
 * While the thread is in this phase, its page faults are served one by one, as
 * if no KADAPT_MEMORY call had been made. Kernels without KADAPT_FEATURE_MEMORY
 * accept the flag, and serve all faults so.
 */
#define KADAPT_POLICY_MEMORY_PLAIN	0x1
#define KADAPT_POLICY__ALL		0x1

#define KADAPT_FILE_DELAY_NS	5000000ULL
#define KADAPT_DELAY_MAX_NS	1000000000ULL

/*
 * KADAPT_ENTER: the calling thread enters this phase. The argument is the
 * phase's number itself. The phase that the thread was in ends. Entering the
 * phase that the thread is in does nothing and is not counted.
 *
 *	ENOENT		the phase has no policy
 *	EBUSY		the thread entered a phase through another open file
 *			that is still open
 *	EOPNOTSUPP	the policy has a quantum and the thread is not of
 *			SCHED_OTHER, SCHED_BATCH or SCHED_IDLE
 * After an error the thread is in the same phase as before.
 */

/*
 * KADAPT_LEAVE: the calling thread leaves its phase. The argument must be 0.
 * The call succeeds also in no phase.
 *
 *	EINVAL		the argument is not 0
 */

/*
 * KADAPT_COUNTERS: what happened in one phase. The kernel reads phase and
 * flags, and writes the rest. If the calling thread is in the phase, the
 * present stay counts up to now.
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
	__u64 populated_bytes;	/* made present beyond the faulting pages */
};

/*
 * Sum the counters of all threads that ever entered the phase through this open
 * file. Stays of other threads count once they have ended, the caller's up to
 * now.
 */
#define KADAPT_COUNTERS_PROCESS 0x1
#define KADAPT_COUNTERS__ALL KADAPT_COUNTERS_PROCESS

/*
 * Rings: records that cost a copy instead of a system call.
 *
 * A ring is memory that the kernel owns and the program maps. The kernel writes
 * what the program appends, unchanged and in order, to the regular file that
 * the ring is bound to. The program binds a ring when it begins to write, and
 * appends without a call. When no more records come, the kernel unbinds the
 * ring by itself. So a binding lasts for a burst of records, not for the life
 * of the descriptor.
 *
 *	struct kadapt_new_ring ring = { .bytes = 65536 };
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
 * wraps. The program makes sure that one thread at a time appends.
 *
 * To unbind, the kernel reads the tail and sets KADAPT_RING_CLOSED in it by one
 * instruction. A compare-and-exchange before that instruction is accepted; one
 * after it fails. Each KADAPT_BIND moves the tail, so an append that began
 * before it fails, too. A child of fork(2) has the mapping with pages of its
 * own, where the tail is 0: its appends fail.
 *
 * The kernel drains the ring when the delay is over, when the program asks for
 * it, enters another phase, closes the device, executes another program or
 * dies, and before anybody touches the file. Records survive the death of the
 * process, and are in the file before wait(2) returns in the parent. The kernel
 * reserves space before it accepts records: the limit ends where the space
 * ends. So when space runs out, the append fails, and the plain write(2) that
 * the program makes instead gives the error.
 *
 * If the disk fails while the ring is drained, the kernel keeps the error and
 * its offset. The next KADAPT_DRAIN, KADAPT_BIND or KADAPT_UNBIND of the ring
 * reports the error once, and so do fsync(2) and close(2) of the file. The
 * kernel drops the records from that offset on, and unbinds the ring.
 */
struct kadapt_ring_header {
	__u64 tail;		/* bytes appended; KADAPT_RING_CLOSED */
	__u64 writer;		/* for the program's use, as is the next */
	__u64 appends;
	__u64 reserved_1[5];
	/* The kernel may write the following fields at any time. */
	__u64 limit;		/* the program may append up to here */
	__u64 head;		/* bytes written to the file or dropped */
	__u64 error_offset;	/* the head at the kept error */
	__u32 error;		/* errno kept, or 0 */
	__u32 state;		/* KADAPT_RING_* */
	__u64 drains;		/* drains of a ring that was not empty */
	__u64 dropped;		/* bytes dropped, ever */
	__u64 taken;		/* bytes written to files, ever */
	__u64 reserved_2;
};

/* Set in the tail: appends fail until the next KADAPT_BIND. */
#define KADAPT_RING_CLOSED 0x8000000000000000ULL

/* Set in the state while the ring is bound. */
#define KADAPT_RING_BOUND 0x1

/*
 * KADAPT_RING: create a ring. Unmapping it or closing the device ends the ring.
 * Its memory is charged to the process's memory control group and to the user's
 * RLIMIT_MEMLOCK, as the memory of io_uring is.
 *
 *	EINVAL		flags unknown, bytes not a power of two
 *	ERANGE		bytes below KADAPT_RING_MIN or above KADAPT_RING_MAX
 *	EMFILE		the process has query.rings already
 *	ENOMEM		also: above RLIMIT_MEMLOCK
 *	EOPNOTSUPP	no KADAPT_FEATURE_RINGS
 *
 * mmap(2) can also give ENXIO: no such ring; EINVAL: not the whole ring, not
 * shared, or mapped already; EPERM: not the process that created it.
 */
struct kadapt_new_ring {
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
 * KADAPT_BIND: connect the ring to the descriptor's open file. Records go to
 * the file's end, where its position must be. The kernel checks here what write(2) checks at each
 * call, and keeps the present credentials, file-size limit and memory control
 * group for the writes. A bound ring is unbound first. The ring holds the open
 * file only while it is bound.
 *
 * The file is guarded. Whatever call any thread or process makes on the open
 * file or on the file, it finds all accepted records, and the ring is no longer
 * bound. A call that only reads the file's size and times leaves the ring
 * bound.
 *
 *	ENOENT		no such ring
 *	EINVAL		flags or reserved not 0, mark above the ring's size
 *	EBADF		no descriptor, or not open for writing
 *	EMEDIUMTYPE	not a regular file; or a file that can't be written at a
 *			given offset, or whose file system shares blocks among
 *			files
 *	EBADFD		open with O_DIRECT, O_SYNC or O_DSYNC, or on a file
 *			system mounted with such an option
 *	ENOTUNIQ	the open file is shared: it was duplicated or inherited by
 *			a child, it is mapped, or a thread is in a call on it
 *	ENOLCK		no lease on the file: somebody else has it open, it
 *			belongs to another user, its file system has no leases,
 *			other machines can change it, or the program itself has a
 *			lease on it
 *	ESPIPE		the position is not at the file's end
 *	ENOTEMPTY	space beyond the file's end is reserved
 *	EOPNOTSUPP	the file system can't reserve space
 *	EPERM		the thread is under seccomp(2), whose filter must see each
 *			of its writes
 *	EBUSY		a thread of the process has descriptors of its own or uses
 *			io_uring, or another process shares its memory
 *	ERANGE		the delay is above KADAPT_DELAY_MAX_NS
 *	or the error kept from the last binding
 */
struct kadapt_binding {
	__u32 ring;
	__s32 descriptor;
	__u32 flags;		/* none yet */
	__u32 mark_bytes;	/* accept this much per drain; 0: all */
	/*
	 * The longest time in the ring; 0: the phase's. Filled in with the
	 * delay used, at least query.delay_min_ns.
	 */
	__u64 delay_ns;
	__u64 reserved;		/* 0 */
};

/*
 * KADAPT_DRAIN: write the ring's contents to its file. The argument is the
 * ring's number, or KADAPT_DRAIN_ALL.
 *
 *	ENOENT		no such ring
 *	EINVAL		flags unknown, or the header's tail is invalid: then the
 *			kernel drops all records and unbinds the ring
 *	EINTR		something is left, as the thread is being killed
 *	ENOLINK		the ring is not bound
 *	or the error kept
 *
 * KADAPT_UNBIND: drain the ring and end the binding. Succeeds if it is not
 * bound.
 */
/* Drain every ring of the process, up to the first error; the number is 0. */
#define KADAPT_DRAIN_ALL	0x40000
#define KADAPT_DRAIN__RING	0x0ffff
#define KADAPT_DRAIN__ALL	0x4ffff

/*
 * KADAPT_BATCH: write `count` pieces of `size` bytes, the first at `base`, each
 * at `stride` bytes from the one before. The effect is that of a loop of
 * write(2), which ends at the first piece that is not written whole. With
 * KADAPT_BATCH_NOSIGNAL it is a loop of send(2) with MSG_NOSIGNAL.
 *
 *	EINVAL	flags unknown; size or count 0
 *	EBADF	no descriptor, or not open for writing
 *	EPERM	the thread is under seccomp(2)
 *	or the error of write(2) for the first piece
 *
 * If a later piece fails, the call succeeds: `done` and `part` say how much was
 * written, and `error` is that piece's error. A signal ends the call after the
 * current piece, with `error` 0; the caller then continues with the rest.
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
 * KADAPT_MEMORY: how the kernel serves page faults in a range of the program's
 * addresses from here on. The range applies to private, anonymous, writable
 * memory, whenever it is mapped there. Holes and other memory are served as
 * without the range. So a range may be larger than what is mapped, as for a
 * heap or a stack that will grow. No address becomes valid, no protection
 * changes, and the contents of memory are the same as without the range: the
 * program can see its resident size and the time. Ranges belong to the process
 * until it executes another program or ends. Closing the device leaves them. A
 * child begins without ranges.
 *
 * Only write faults are served in bulk; a read before the first write gets the
 * page of zeroes, as without the range. While the machine or the control group
 * is short of memory, faults are served one by one. Before the kernel kills a
 * process for lack of memory, it takes back pages that were made present and
 * hold only zeroes.
 *
 *	EINVAL		flags unknown; none or more than one of AHEAD, DENSE and
 *			PLAIN; NOW without DENSE; reserved not 0; address,
 *			bytes or chunk_bytes not a multiple of the page size;
 *			chunk_bytes not a power of two; bytes 0; the range goes
 *			beyond the program's addresses
 *	ERANGE		chunk_bytes above KADAPT_MEMORY_CHUNK_MAX
 *	ENOSPC		the process has KADAPT_MEMORY_RANGES already
 *	EOPNOTSUPP	no KADAPT_FEATURE_MEMORY
 */
struct kadapt_memory {
	__u64 address;
	__u64 bytes;
	__u32 flags;		/* KADAPT_MEMORY_* */
	__u32 reserved;		/* 0 */
	__u64 chunk_bytes;	/* most bytes at once; 0: default; filled in */
	__u64 done;		/* filled in, with NOW: bytes made present */
};

/*
 * A fault makes as many bytes present above it as are present without a gap
 * below it, up to a chunk; for a program that writes downwards, the reverse. So
 * a program that writes page after page gets twice as much each time, and a
 * program that writes at random gets single pages. If the last page of what was
 * made present still holds zeroes, the next page comes alone, to see whether
 * another one follows. Pages made present and not reached yet are at most
 * KADAPT_MEMORY_AHEAD_MAX per process. A stack grows as without the range:
 * nothing below its end is made present.
 */
#define KADAPT_MEMORY_AHEAD	0x1
/* A fault makes the whole chunk around it present, as all will be written. */
#define KADAPT_MEMORY_DENSE	0x2
/* Remove the range. */
#define KADAPT_MEMORY_PLAIN	0x4
/*
 * With DENSE: make the mapped part of the range present now, before it faults.
 * If memory is short, only part of it: see done.
 */
#define KADAPT_MEMORY_NOW	0x8
#define KADAPT_MEMORY__ALL	0xf

/* A later call replaces an earlier one where they overlap. */
#define KADAPT_MEMORY_RANGES		1024
#define KADAPT_MEMORY_CHUNK_DEFAULT	2097152
#define KADAPT_MEMORY_CHUNK_MAX		4194304
#define KADAPT_MEMORY_AHEAD_MAX		33554432

/*
 * KADAPT_TAKE: in this phase, threads take the variants of an installed unit: a
 * group of functions of the kernel, each with a new version. They change from
 * the originals to the variants in KADAPT_ENTER, and back when the phase ends,
 * for all functions of the unit at once. If the administrator removes the unit,
 * they take the originals; installed anew, they take it when they next enter
 * the phase. A thread that is in the phase takes the unit when it next enters.
 *
 *	EINVAL		reserved not 0, phase not below query.phases, the name
 *			has no end
 *	ENOENT		the phase has no policy
 *	ENODEV		no unit of this name is installed
 *	EOPNOTSUPP	no KADAPT_FEATURE_UNITS
 */
#define KADAPT_UNIT_NAME 48

struct kadapt_take {
	__u32 phase;
	__u32 reserved;			/* 0 */
	char unit[KADAPT_UNIT_NAME];
};

#define KADAPT_TYPE 0xC7

#define KADAPT_QUERY	_IOR(KADAPT_TYPE, 0, struct kadapt_query)
#define KADAPT_DEFINE	_IOW(KADAPT_TYPE, 1, struct kadapt_policy)
#define KADAPT_ENTER	_IO(KADAPT_TYPE, 2)
#define KADAPT_LEAVE	_IO(KADAPT_TYPE, 3)
#define KADAPT_COUNTERS	_IOWR(KADAPT_TYPE, 4, struct kadapt_counters)
#define KADAPT_RING	_IOWR(KADAPT_TYPE, 5, struct kadapt_new_ring)
#define KADAPT_BIND	_IOWR(KADAPT_TYPE, 6, struct kadapt_binding)
#define KADAPT_DRAIN	_IO(KADAPT_TYPE, 7)
#define KADAPT_UNBIND	_IO(KADAPT_TYPE, 8)
#define KADAPT_BATCH	_IOWR(KADAPT_TYPE, 9, struct kadapt_batch)
#define KADAPT_MEMORY	_IOWR(KADAPT_TYPE, 12, struct kadapt_memory)

#define KADAPT_TAKE	_IOW(KADAPT_TYPE, 13, struct kadapt_take)

#endif /* _UAPI_KADAPT_H */
