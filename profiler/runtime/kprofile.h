/* SPDX-License-Identifier: MIT */
/*
 * libkprofile: the runtime of the compiled-in profiler, linked into programs that are built in
 * profile mode. It writes a profile while the program runs. The head of profiler/kbbv/stream.c
 * describes the format.
 *
 * KADENCE_PROFILE_OUTPUT names the profile; %p is the process id, %r the rank in a parallel
 * program. If the variable is not set, the profile is NAME.PID.kprof in the working directory. A
 * forked child writes its own file; if the name has no %p, the runtime adds .PID.
 *
 * KADENCE_PROFILE_INTERVAL is the interval: processor time in nanoseconds, or in milliseconds with
 * `ms`; with `i`, instructions of a thread. If the variable is not set, the interval is 1 ms and
 * doubles whenever there are 1000 intervals.
 *
 * The program itself only counts. The sampler, a thread that no library knows of, looks at the
 * counters whenever the process has used an interval's processor time, or a thread should have
 * executed an interval's instructions. The sampler has its own descriptors. If the process is
 * killed, the counts since the last row are lost. The runtime prints nothing; it drops data that
 * it cannot write. Where the sampler cannot run, as under Valgrind, the run is one interval.
 *
 * Known inaccuracies: threads that were not created by pthread_create are not counted. Code that a
 * shared library's destructors execute after the program's own is not counted. The instructions
 * of a block are the compiler's estimate. A row ends at the first look after its time or its
 * instructions, typically less than 0.1 ms late; the delays do not add up.
 */
#ifndef KADENCE_KPROFILE_H
#define KADENCE_KPROFILE_H

#include "format/stream_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define SHARED __attribute__((visibility("default")))

/* ---- module.c: each program file and library has its own copy ---- */

/* One copy of these functions serves the process: the program's, if the program has one. */
SHARED void kprofile_add_units(const struct unit *begin, const struct unit *end,
			       const char *object);
SHARED void kprofile_remove_units(const struct unit *begin, const struct unit *end);
SHARED void kprofile_finish(void);

/* ---- memory.c: memory and system calls that do not affect the program's ---- */

/* Zeroed memory that is never freed; null if there is none. */
HIDDEN void *memory_take(size_t bytes);

/* Returns a copy in larger memory, or null. The old memory is not reused. */
HIDDEN void *memory_grow(void *memory, size_t bytes, size_t wanted);

/* Bits side by side, in words of 64. */
static inline size_t bits_size(size_t bits)
{
	return (bits + 63) / 64 * sizeof(uint64_t);
}

static inline void bit_set(uint64_t *bits, size_t bit)
{
	bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static inline void bit_clear(uint64_t *bits, size_t bit)
{
	bits[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

/* A system call that leaves errno alone: a negative result is an error. */
HIDDEN long call_kernel(long number, long a, long b, long c, long d, long e);

/* Returns false if the calling thread already holds the lock, as in a signal handler. */
HIDDEN bool lock(void);
HIDDEN void unlock(void);
HIDDEN void lock_forget(void); /* in a forked child */

/* ---- blocks.c: blocks by name; blocks with the same name are one block ---- */

struct block {
	const char *function;
	const char *file;
	const char *object;
	uint32_t checksum;
	uint32_t index;
	uint32_t line;
	uint32_t instructions;
	bool entry;
	uint32_t number; /* in the profile, from 1; 0: not yet in it */
};

/* Returns a map: block n of the unit is blocks_at(map[n]). Null: no memory. */
HIDDEN const uint32_t *blocks_add(const struct unit *unit, const char *object);
HIDDEN struct block *blocks_at(uint32_t position);
HIDDEN uint32_t blocks_count(void);

/* ---- threads.c ---- */

struct thread {
	struct thread *next;
	char *pointer; /* thread pointer; null: the thread ended */
	uint32_t number;
	uint64_t *seen;	   /* by counter: its value at the last look */
	int64_t *entered;  /* by block: entries since the last row */
	uint64_t *touched; /* one bit for each block: set if `entered` is not 0 */
	size_t seen_capacity, entered_capacity;
	uint64_t executed;  /* instructions, at the last look */
	uint64_t row_start; /* instructions of all threads when its row began */
	uint64_t row_end;   /* if intervals are in instructions: `executed` at the row's end */
	uint64_t executed_before; /* for the sampler: `executed` at the previous look */
};

HIDDEN struct thread *threads_first(void);
HIDDEN uint32_t threads_total(void);
HIDDEN void thread_begin(void);
HIDDEN void thread_end(void);
HIDDEN void threads_forget_ended(void);	 /* after a row, which has their counts */
HIDDEN void threads_forget_others(void); /* in a forked child */

/* ---- counts.c: the counters of all threads ---- */

HIDDEN void units_add(const struct unit *unit, const char *object);
HIDDEN void units_remove(const struct unit *begin, const struct unit *end);
HIDDEN void counts_look_at(struct thread *thread); /* adds the counts since the last look */
HIDDEN void counts_look(void);			   /* likewise, for all threads */
HIDDEN uint64_t counts_executed(void); /* instructions of all threads, at the last look */
HIDDEN void counts_forget(void);       /* in a forked child */
HIDDEN void counts_write_layout(void); /* of all units: how often blocks ran since the start */

/* ---- layout.c: blocks that are named for the layout ---- */

/* Zeroed counts, one for each block of the unit; null if there is no memory. */
HIDDEN int64_t *layout_begin(const struct unit *unit);

/* `number` tells units apart that have functions of the same name. */
HIDDEN void layout_write(const struct unit *unit, size_t number, const int64_t *counts);

/* ---- stream.c: frames ---- */

HIDDEN void stream_begin(enum frame kind);
HIDDEN void stream_number(uint64_t value);
HIDDEN void stream_text(const char *text, size_t length);
HIDDEN void stream_checksum(uint32_t checksum); /* as a text of 8 digits */
HIDDEN void stream_finish(void);
HIDDEN void stream_forget(void); /* in a forked child: further frames go to a new file */

/* Writes the finished frames to the profile; `keep`: leaves the descriptor open. */
HIDDEN void stream_flush(bool keep);

/* ---- rows.c: writes rows and the end of the profile ---- */

/* Ends the interval of all threads; the caller holds the lock. Returns the time elapsed. */
HIDDEN uint64_t rows_write(void);
HIDDEN void rows_write_full(void); /* likewise, for threads that executed an interval */
HIDDEN void rows_end(void);	   /* likewise, and ends the run */
HIDDEN void rows_replace(void);	   /* likewise; the process may become another program */
HIDDEN void rows_forget(void);

/* ---- output.c: the process and the profile's name ---- */

HIDDEN void output_initialise(void);
HIDDEN void output_forget(void);
HIDDEN const char *output_path(void);
HIDDEN void output_describe(void); /* writes the head */
HIDDEN long output_process(void);

/* ---- interval.c: the length of intervals ---- */

HIDDEN void interval_choose(const char *text);
HIDDEN void interval_begin(void);
HIDDEN uint64_t interval_elapsed(void); /* nanoseconds of processor time since interval_begin() */
HIDDEN uint64_t interval_before(void);	/* and those before interval_begin() */
HIDDEN uint64_t interval_length(void);
HIDDEN bool interval_is_instructions(void);
HIDDEN void interval_fit(uint64_t elapsed); /* after a row: doubles if rows are too many */

/* ---- sampler.c ---- */

HIDDEN void sampler_start(void);

/* ---- process.c ---- */

/* Write all remaining counts: the process ends, or may become another program. */
HIDDEN void process_ends(void);
HIDDEN void process_may_be_replaced(void);

#endif
