/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/kadapt_probe: counts and times functions of the running kernel, for the
 * tasks that are observed, by task and phase.
 *
 *	int fd = open("/dev/kadapt_probe", O_RDWR | O_CLOEXEC);
 *	struct kadapt_probe_function functions[] = { { address, KIND } };
 *	struct kadapt_probe_arm arm = { .functions = (__u64)functions, .count = 1 };
 *
 *	ioctl(fd, KADAPT_PROBE_ARM, &arm);	// functions are instrumented
 *	ioctl(fd, KADAPT_PROBE_TASK, pid);	// this task, and what it creates
 *	pool = mmap(NULL, arm.map_bytes, PROT_READ, MAP_SHARED, fd, 0);
 *	...					// read the pool at any time
 *	close(fd);				// functions are as before
 *
 * One file at a time is armed. The device needs CAP_SYS_ADMIN, except in
 * User-Mode Linux, which is a process of its user.
 *
 * Ticks are those of the processor's time stamp counter.
 *
 * A timed function must pass no argument on the stack and return at most 8
 * bytes: the call is given another return address, on a stack that is longer by
 * 32 bytes. The caller of ARM must check this. A counted function may be any.
 * Tracepoints are counted like functions; if events are wanted, each is one that
 * takes no time.
 */
#ifndef _UAPI_KADAPT_PROBE_H
#define _UAPI_KADAPT_PROBE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes only when something here changes its meaning. */
#define KADAPT_PROBE_VERSION 1

/* What is kept of a function's calls. */
enum kadapt_probe_kind {
	KADAPT_PROBE_COUNT,	/* their number, in histogram[0] */
	KADAPT_PROBE_TIME,	/* their times */
	/* Times, and the sum of the results that are positive, in `bytes`. */
	KADAPT_PROBE_BYTES_LONG,	/* of results of 64 bits */
	KADAPT_PROBE_BYTES_INT,	/* of results of 32 bits */
	KADAPT_PROBE_POINT,	/* of a tracepoint: as KADAPT_PROBE_COUNT */
	KADAPT_PROBE_KINDS,
};

struct kadapt_probe_function {
	__u64 address;		/* of the function's symbol, or the tracepoint's */
	__u32 kind;		/* enum kadapt_probe_kind */
	__u32 reserved;		/* 0 */
};

/* At most so many functions. */
#define KADAPT_PROBE_FUNCTIONS	4096
#define KADAPT_PROBE_EVENTS_LEAST	12
#define KADAPT_PROBE_EVENTS_MOST	28

/*
 * KADAPT_PROBE_ARM: instrument functions. Once for an open file.
 *
 *	EALREADY	this file is armed
 *	EBUSY	another file is armed, or tasks still run in functions that a
 *		closed file had instrumented, or another tool has a direct call
 *		in one of the functions
 *	EINVAL	unknown kind, a function twice, no function, more than
 *		KADAPT_PROBE_FUNCTIONS; `events` is none of
 *		KADAPT_PROBE_EVENTS_LEAST to KADAPT_PROBE_EVENTS_MOST, nor 0
 *	ENOENT	no function that can be traced begins at an address, or no
 *		tracepoint of the kernel itself is there
 *	ENOMEM	no memory
 *	EOPNOTSUPP	the time stamp counter is unstable, and a function is to
 *		be timed
 */
struct kadapt_probe_arm {
	__u64 functions;	/* address of an array */
	__u32 count;
	/* Bytes of events for each processor: 2 to the power of this; 0: none. */
	__u32 events;
	__u64 pool_bytes;	/* memory for records; 0: 32 MiB */
	/* Set by the kernel. */
	__u64 map_bytes;	/* to map */
	__u32 version;		/* KADAPT_PROBE_VERSION */
	__u32 ticks_khz;
	/* Ticks that a timed call adds to itself, and are subtracted there. */
	__u32 inner_ticks;
	/* Whether functions share their code, which costs a few ticks more. */
	__u32 shared;
	/* Ticks that a counted call adds if no function is timed. */
	__u32 count_ticks;
	/*
	 * Ticks that a call adds to its caller, by kind, if any function is
	 * timed. They are subtracted.
	 */
	__u32 cost_ticks[KADAPT_PROBE_KINDS];
};

/* Why a task did not run during a call. */
enum kadapt_probe_wait {
	KADAPT_PROBE_PREEMPTED,	/* it could have run */
	KADAPT_PROBE_SLEPT,	/* until an event or a signal */
	KADAPT_PROBE_DISK,	/* until a device has done its work */
	KADAPT_PROBE_BLOCKED,	/* until an event, whatever signals come */
	KADAPT_PROBE_WAITS,
};

#define KADAPT_PROBE_BUCKETS	64

/* Of a function, in one phase of one task. */
struct kadapt_probe_record {
	__u64 inclusive;	/* ticks with callees, without waiting */
	__u64 children;		/* ticks of timed functions that it called */
	__u64 bytes;
	__u64 unended;		/* calls in which the task ended */
	__u64 waited[KADAPT_PROBE_WAITS];	/* ticks, with callees */
	/* Calls that took 2^N to 2^(N+1) - 1 ticks; the last: less than none. */
	__u64 histogram[KADAPT_PROBE_BUCKETS];
};

#define KADAPT_PROBE_NO_PHASE	((__u32)-1)

/* A phase of a task, or what follows the pool's last free block. */
struct kadapt_probe_block {
	__s32 process, task;	/* process and thread IDs; 0: all others */
	__u32 phase;		/* or KADAPT_PROBE_NO_PHASE */
	__u32 reserved;
	char name[16];		/* the task's, when it last entered or left */
	__u64 elapsed;		/* ticks in the phase, up to `entered` */
	__u64 entered;		/* the counter when the task entered it, or 0 */
	__u64 away;		/* ticks of `elapsed` in which the task waited */
};

/* What mmap() gives begins with this. */
struct kadapt_probe_pool {
	__u32 functions;	/* a block's records, in the order of ARM */
	__u32 blocks;		/* in use; the first is for all others */
	__u32 tasks_lost;	/* not observed, because there were too many */
	__u32 stays_lost;	/* phases without a block of their own */
	__u64 blocks_at;	/* offset of struct kadapt_probe_block[] */
	__u64 records_at;	/* offset of the first block's records */
	__u64 records_bytes;	/* from one block's records to the next one's */
	__u64 events_at;	/* offset of the first processor's ring */
	__u64 events_bytes;	/* of each ring; a power of two, or 0 */
	__u32 processors;	/* rings */
	__u32 padding;
};

/*
 * A timed call, a tracepoint, a wait or a phase that has ended. Each processor writes its
 * events into a ring and overwrites the oldest. The Nth event of all, from 0 on,
 * has the sequence N * sizeof(event) + 1, which is written last. A ring may leave
 * an event out: if what follows is there, that one never comes.
 */
struct kadapt_probe_event {
	__u64 begin, end;	/* the counter */
	/*
	 * The offset of the function's record in a block; or
	 * KADAPT_PROBE_EVENT_PHASE + phase; or KADAPT_PROBE_EVENT_WAIT + why
	 */
	__u32 what;
	__s32 task;		/* thread ID */
	__u64 sequence;
};

#define KADAPT_PROBE_EVENT_PHASE	0x40000000U
#define KADAPT_PROBE_EVENT_WAIT	0x80000000U

#define KADAPT_PROBE_TYPE	0xb8
#define KADAPT_PROBE_ARM	_IOWR(KADAPT_PROBE_TYPE, 0, struct kadapt_probe_arm)
/*
 * KADAPT_PROBE_TASK: observe a task and the tasks that it creates from now on.
 *
 *	ENOTCONN	the file is not armed
 *	ESRCH	no such task
 *	EEXIST	it is observed
 *	ENOSPC	too many tasks are observed
 */
#define KADAPT_PROBE_TASK	_IO(KADAPT_PROBE_TYPE, 1)

#endif /* _UAPI_KADAPT_PROBE_H */
