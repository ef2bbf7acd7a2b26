/* SPDX-License-Identifier: MIT */
/*
 * libkadapt: phase calls, rings, batches and the arena of adapted programs, which
 * contain it statically.
 *
 * The compiler plugin inserts the calls and emits kadapt_plan. A program may also call
 * the functions and define the plan itself. Without /dev/kadapt, without permission, or
 * with another version of the interface, every call behaves as in the plain program.
 *
 * All functions may be called from any thread, and from signal handlers if the function
 * that they replace may. Phase calls leave errno alone. The library prints nothing. A
 * forked child starts in no phase and opens the device when it first needs it.
 *
 * With KADAPT_COUNTERS=FILE in the environment, a process that uses the device or has
 * an arena appends one line of JSON to FILE when it ends by exit():
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
 * Programs with I/O sites have "io": records that went into rings and their bytes,
 * bindings, drains that the library requested, and redirected calls that were made
 * plainly.
 *
 * Programs with an arena have "memory": blocks taken from the arena and their bytes,
 * bytes kept from earlier blocks, most bytes in use, and blocks that did not fit.
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

#define KADAPT_PLAN_ABI 5

/* The policies of the phases, laid out as the compiler plugin emits them. */
struct kadapt_plan_policy {
	uint32_t phase;
	uint32_t flags;		/* as struct kadapt_policy's */
	uint64_t quantum_ns;	/* 0: the kernel's default; limited to what the kernel allows */
	uint64_t file_delay_ns; /* likewise */
	uint32_t tried;		/* KADAPT_TRY_*: policies that a run may try against plain */
	uint32_t visits;	/* that the profiled run made to the phase */
};

/* What earlier runs on machines of one kind showed of a policy (docs/trials.md). */
struct kadapt_plan_learned {
	uint32_t phase;
	uint32_t policy; /* one of KADAPT_TRY_* */
	uint32_t level;
	int32_t effect_ppm; /* logarithm of a ratio of times; below 0 the policy helps */
	uint32_t error_ppm; /* the standard error */
	uint32_t reserved;  /* 0 */
	uint64_t machine;   /* the kind: see kadapt/lib/trials/kind.h */
};

struct kadapt_plan {
	uint32_t abi;		    /* KADAPT_PLAN_ABI; another is not used */
	uint32_t policies;	    /* length of policy[] */
	uint32_t flags;		    /* KADAPT_PLAN_* */
	uint32_t ahead;		    /* KADAPT_AHEAD_* */
	uint64_t keep_bytes;	    /* most bytes of freed blocks that are kept */
	uint64_t fresh_least_bytes; /* malloc serves smaller blocks */
	uint64_t id;		    /* what trial records of this plan are known by */
	uint32_t learned;	    /* structures kadapt_plan_learned behind policy[] */
	uint32_t reserved;	    /* 0 */
	struct kadapt_plan_policy policy[];
};

/* Rings and batches for redirected calls. */
#define KADAPT_PLAN_IO 0x1
/* Rings also for interposed calls, such as those of shared libraries. */
#define KADAPT_PLAN_STREAMS 0x2
/* Blocks from the arena for redirected calls, and the ranges of `ahead`. */
#define KADAPT_PLAN_MEMORY 0x8

/* Policies are tried during the run. */
#define KADAPT_PLAN_TRIALS 0x10

/* Policies that a run may try in a phase. */
#define KADAPT_TRY_QUANTUM 0x1
#define KADAPT_TRY_RINGS 0x2
#define KADAPT_TRY_BATCHES 0x4
#define KADAPT_TRY_MEMORY 0x8

/* Memory of no site, whose pages the kernel makes present just ahead of their use. */
#define KADAPT_AHEAD_HEAP 0x1
#define KADAPT_AHEAD_STACK 0x2
#define KADAPT_AHEAD_MAPPINGS 0x4

/* The program's plan; a program without one enters no phases. */
extern const struct kadapt_plan kadapt_plan __attribute__((weak));

/* The phase call that the plugin inserts: the calling thread enters this phase. */
void kadapt_phase_enter(uint32_t phase);

/* The same, and returns the device's 0 or -errno; -ENODEV without the device. */
int kadapt_enter(uint32_t phase);

/* The calling thread leaves its phase. Returns 0 or -errno. */
int kadapt_leave(void);

/*
 * A reference makes the linker put the interposed functions of the C library into the
 * program (docs/io.md).
 */
extern const int kadapt_io_anchor;

/*
 * A reference makes the linker take the functions that notice when the program goes under
 * seccomp(2). Without them, a program asks for no slices (kadapt/lib/slice/slice.h).
 */
extern const int kadapt_filter_anchor;

/* These replace redirected calls, each with its original's meaning. */
ssize_t kadapt_write(int descriptor, const void *record, size_t size);
ssize_t kadapt_writev(int descriptor, const struct iovec *pieces, int count);
int kadapt_fflush(FILE *stream);
int kadapt_fflush_unlocked(FILE *stream);

/*
 * A loop that writes `count` pieces of `size` bytes, the first at `base`, each `stride`
 * bytes after the one before. It ends at the first piece that is not written whole.
 * Returns the number of whole pieces. If that is below `count`, *last is what the next
 * piece's call returned: a short count, or -1 with errno.
 */
int64_t kadapt_batch_write(int descriptor, const void *base, uint64_t size, uint64_t stride,
			   uint64_t count, int64_t *last);
int64_t kadapt_batch_send(int descriptor, const void *base, uint64_t size, uint64_t stride,
			  uint64_t count, int flags, int64_t *last);

/* A reference makes the linker take the code that binds the ranges of `ahead`. */
extern const int kadapt_memory_anchor;

/*
 * Treatments of the memory that a call returns (docs/memory.md). They can be combined.
 * Treatments that the kernel does not offer have no effect.
 */
#define KADAPT_TREAT_POPULATE 0x1  /* make pages present ahead of their first use */
#define KADAPT_TREAT_KEEP 0x2	   /* keep the pages when the block is freed */
#define KADAPT_TREAT_HUGE 0x4	   /* huge pages */
#define KADAPT_TREAT_MAP_AHEAD 0x8 /* map a file's pages before they are read */

/*
 * These replace redirected calls, with one more argument: KADAPT_TREAT_*. free() and
 * realloc() take the blocks anywhere in the process.
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

/* The operators new and new[] of C++, by their assembler names. */
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
