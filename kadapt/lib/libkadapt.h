/* SPDX-License-Identifier: MIT */
/*
 * libkadapt: phase calls, I/O paths and large blocks of memory for adapted
 * programs, linked into them statically.
 *
 * The compiler plugin inserts the calls and emits kadapt_plan; a program may
 * also call and define them itself. Without /dev/kadapt, without permission or
 * with an interface of another version every call does at once what it would
 * do in the plain program, for ever.
 *
 * All functions may be called from any thread; from signal handlers, too, where
 * the function in whose place they stand may. Phase calls leave errno alone.
 * Nothing is printed. A forked child starts in no phase and opens the device
 * anew when it first needs it.
 *
 * With KADAPT_COUNTERS=FILE in the environment a process that uses the device, or
 * has an arena, appends, when it ends by exit(), one line of JSON to FILE:
 *
 *	{"pid": 7, "phases": [{"phase": 0, "entries": 3, "time_ns": 12,
 *	 "voluntary_switches": 0, "involuntary_switches": 1, "minor_faults": 2,
 *	 "major_faults": 0, "populated_bytes": 4096}],
 *	 "io": {"appends": 9, "bytes": 144, "binds": 1, "drains": 1, "plain": 1},
 *	 "memory": {"blocks": 3, "bytes": 786432, "again_bytes": 524288,
 *	 "peak_bytes": 262144, "refused": 0}}
 *
 * Without the device, "phases" is empty.
 *
 * "io" is there where the program has I/O paths: records that went into rings
 * and their bytes, bindings, drains that the library asked for, and redirected calls
 * that were made as they are.
 *
 * "memory" is there where the program has an arena: blocks that were taken from it
 * and their bytes, how much of them had been kept from earlier blocks, the most
 * that was in use at a time, and blocks that there was no room for.
 */
#ifndef LIBKADAPT_H
#define LIBKADAPT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KADAPT_PLAN_ABI 4

/* What phase shall do what; laid out as the compiler plugin emits it. */
struct kadapt_plan_policy {
	uint32_t phase;
	uint32_t flags;		/* as struct kadapt_policy's */
	uint64_t quantum_ns;	/* 0: the kernel's default; cut to what the kernel allows */
	uint64_t file_delay_ns; /* 0: the kernel's default; cut likewise */
};

struct kadapt_plan {
	uint32_t abi;		    /* KADAPT_PLAN_ABI; another is not used */
	uint32_t policies;	    /* length of policy[] */
	uint32_t flags;		    /* KADAPT_PLAN_* */
	uint32_t ahead;		    /* KADAPT_AHEAD_* */
	uint64_t keep_bytes;	    /* freed memory that may stay with the program, at most */
	uint64_t fresh_least_bytes; /* smaller blocks are malloc's */
	struct kadapt_plan_policy policy[];
};

/* Rings and batches where calls were redirected. */
#define KADAPT_PLAN_IO 0x1
/* Rings also for calls that were not, as those of shared libraries. */
#define KADAPT_PLAN_STREAMS 0x2
/* Large blocks from the arena where calls were redirected, and what `ahead` says. */
#define KADAPT_PLAN_MEMORY 0x8

/* Memory that no site is about whose pages are to be made present just ahead of use. */
#define KADAPT_AHEAD_HEAP 0x1
#define KADAPT_AHEAD_STACK 0x2
#define KADAPT_AHEAD_MAPPINGS 0x4

/* The program's plan; a program without one enters no phases. */
extern const struct kadapt_plan kadapt_plan __attribute__((weak));

/* What inserted code calls: the calling thread is now in this phase. */
void kadapt_phase_enter(uint32_t phase);

/* The same, but says what became of it: 0 or -errno; -ENODEV without device. */
int kadapt_enter(uint32_t phase);

/* The calling thread is in no phase; 0 or -errno. */
int kadapt_leave(void);

/*
 * A reference to it makes the linker put the interposed functions of the C
 * library into the program (docs/io.md). Not 0 where they are.
 */
extern const int kadapt_io_anchor;

/* In the place of redirected calls, each with its original's meaning. */
ssize_t kadapt_write(int descriptor, const void *record, size_t size);
ssize_t kadapt_writev(int descriptor, const struct iovec *pieces, int count);
int kadapt_fflush(FILE *stream);
int kadapt_fflush_unlocked(FILE *stream);

/*
 * A loop that writes `count` pieces of `size` bytes, the first at `base`, each
 * `stride` after the one before, and ends at the first that is not written
 * whole. Returns how many were; if that is below `count`, *last is what the
 * next piece's call returned: a short count, or -1 and errno.
 */
int64_t kadapt_batch_write(int descriptor, const void *base, uint64_t size, uint64_t stride,
			   uint64_t count, int64_t *last);
int64_t kadapt_batch_send(int descriptor, const void *base, uint64_t size, uint64_t stride,
			  uint64_t count, int flags, int64_t *last);

/* A reference to it makes the linker take what binds the ranges that `ahead` names. */
extern const int kadapt_memory_anchor;

/*
 * What is done with the memory that a call gives out; more than one is possible
 * (docs/memory.md). What a kernel does not offer is left out.
 */
#define KADAPT_TREAT_POPULATE 0x1  /* pages are made present ahead of their first use */
#define KADAPT_TREAT_KEEP 0x2	   /* it stays with the program when it is freed */
#define KADAPT_TREAT_HUGE 0x4	   /* huge pages */
#define KADAPT_TREAT_MAP_AHEAD 0x8 /* a file's pages are mapped before they are read */

/*
 * In the place of redirected calls, each with its original's meaning, and one
 * argument more: KADAPT_TREAT_*. What they return is freed by free() and resized
 * by realloc(), anywhere in the process.
 */
void *kadapt_malloc(size_t size, unsigned int treatments);
void *kadapt_calloc(size_t count, size_t size, unsigned int treatments);
void *kadapt_realloc(void *block, size_t size, unsigned int treatments);
void *kadapt_reallocarray(void *block, size_t count, size_t size, unsigned int treatments);
void *kadapt_aligned_alloc(size_t alignment, size_t size, unsigned int treatments);
void *kadapt_memalign(size_t alignment, size_t size, unsigned int treatments);
int kadapt_posix_memalign(void **place, size_t alignment, size_t size, unsigned int treatments);
void *kadapt_mmap(void *address, size_t size, int protection, int flags, int descriptor,
		  off_t offset, unsigned int treatments);
void *kadapt_mmap64(void *address, size_t size, int protection, int flags, int descriptor,
		    off_t offset, unsigned int treatments);

/* C++'s operators new and new[], by their assembler names. */
void *kadapt__Znwm(size_t size, unsigned int treatments);
void *kadapt__Znam(size_t size, unsigned int treatments);
void *kadapt__ZnwmRKSt9nothrow_t(size_t size, const void *nothrow, unsigned int treatments);
void *kadapt__ZnamRKSt9nothrow_t(size_t size, const void *nothrow, unsigned int treatments);
void *kadapt__ZnwmSt11align_val_t(size_t size, size_t alignment, unsigned int treatments);
void *kadapt__ZnamSt11align_val_t(size_t size, size_t alignment, unsigned int treatments);
void *kadapt__ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow,
						unsigned int treatments);
void *kadapt__ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow,
						unsigned int treatments);

#ifdef __cplusplus
}
#endif

#endif
