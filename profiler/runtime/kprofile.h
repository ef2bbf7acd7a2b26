/* SPDX-License-Identifier: MIT */
/*
 * libkprofile: the runtime of the compiled-in profiler, linked into programs that are built in
 * profile mode. It writes a profile (the head of profiler/kbbv/stream.c has the format) while the
 * program runs.
 *
 *   KADENCE_PROFILE_OUTPUT     the profile; %p is the process id, %r the rank in a parallel
 * program. NAME.PID.kprof in the working directory if not set. A forked child writes to a file of
 * its own, with .PID added where there is no %p.
 *
 *   KADENCE_PROFILE_INTERVAL   of processor time, in nanoseconds, or with `ms`; with `i`, of a
 * thread's instructions. If not set, 1 ms, doubled whenever there are 1000 of them.
 *
 * The program only counts. A thread that no library knows of looks at the counters whenever the
 * process has used an interval's processor time, or a thread should have executed an interval's
 * instructions; it has descriptors of its own. Counts since the last row are lost if the process is
 * killed. Nothing is printed; what can't be written is not. Where there can be no such thread, as
 * under Valgrind, the run is one interval.
 *
 * Where it is wrong: threads that are not made by pthread_create are not counted. What a shared
 * library's destructors execute after the program's own is not counted. Instructions are the
 * compiler's estimate of what blocks have. Rows end at the first look after their time or their
 * instructions, typically less than 0.1 ms after; that does not add up.
 */
#ifndef KADENCE_KPROFILE_H
#define KADENCE_KPROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define SHARED __attribute__((visibility("default")))

/* ---- module.c: each program file and library has its own ---- */

/* One copy serves the process, the program's own if it has one. */
SHARED void kprofile_add_units(const struct unit *begin, const struct unit *end,
			       const char *object);
SHARED void kprofile_remove_units(const struct unit *begin, const struct unit *end);
SHARED void kprofile_finish(void);

/* ---- memory.c: memory and calls that leave the program's own alone ---- */

/* Zeroed memory, for ever; null if there is none. */
HIDDEN void *memory_take(size_t bytes);

/* A copy in a larger place; `memory` is not used again. */
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

/* A system call without errno: a negative result is an error. */
HIDDEN long call_kernel(long number, long a, long b, long c, long d, long e);

/* Returns false where the calling thread holds the lock already, as in a signal handler. */
HIDDEN bool lock(void);
HIDDEN void unlock(void);
HIDDEN void lock_forget(void); /* in a forked child */

/* ---- blocks.c: the names of blocks; the same name is the same block ---- */

struct block {
	const char *function;
	const char *file;
	const char *object;
	uint32_t checksum;
	uint32_t index;
	uint32_t line;
	uint32_t instructions;
	bool entry;
	uint32_t number; /* in the profile, from 1; 0: not yet mentioned */
};

/* The unit's blocks, as positions: block n of the unit is blocks_at(map[n]). Null: no memory. */
HIDDEN const uint32_t *blocks_add(const struct unit *unit, const char *object);
HIDDEN struct block *blocks_at(uint32_t position);
HIDDEN uint32_t blocks_count(void);

/* ---- threads.c ---- */

struct thread {
	struct thread *next;
	char *pointer; /* thread pointer; null: it ended */
	uint32_t number;
	uint64_t *seen;	   /* by counter: what it was at the last look */
	int64_t *entered;  /* by block: how often since the last row */
	uint64_t *touched; /* by block, a bit: set wherever `entered` is not 0 */
	size_t seen_capacity, entered_capacity;
	uint64_t executed;  /* instructions, at the last look */
	uint64_t row_start; /* what all threads had executed when its row began */
	uint64_t row_end;   /* where intervals are of instructions: what `executed` is to be then */
	uint64_t executed_before; /* for the sampler: at the look before */
};

HIDDEN struct thread *threads_first(void);
HIDDEN uint32_t threads_total(void);
HIDDEN void thread_begin(void);
HIDDEN void thread_end(void);
HIDDEN void threads_forget_ended(void);	 /* after a row: those that ended are in it */
HIDDEN void threads_forget_others(void); /* in a forked child */

/* ---- counts.c: the counters of all threads ---- */

HIDDEN void units_add(const struct unit *unit, const char *object);
HIDDEN void units_remove(const struct unit *begin, const struct unit *end);
HIDDEN void counts_look_at(struct thread *thread); /* adds what was counted since the last look */
HIDDEN void counts_look(void);			   /* likewise, of all threads */
HIDDEN uint64_t counts_executed(void); /* instructions of all threads, at the last look */
HIDDEN void counts_forget(void);       /* in a forked child */

/* ---- stream.c: frames ---- */

HIDDEN void stream_begin(char kind);
HIDDEN void stream_number(uint64_t value);
HIDDEN void stream_text(const char *text, size_t length);
HIDDEN void stream_finish(void);
HIDDEN void stream_forget(void); /* in a forked child: what follows goes to a new file */

/* Writes what is finished to the profile; `keep`: with a descriptor that stays open. */
HIDDEN void stream_flush(bool keep);

/* ---- rows.c: what is written when ---- */

/* The interval that ends now, of all threads; with the lock held. Returns the time elapsed. */
HIDDEN uint64_t rows_write(void);
HIDDEN void rows_write_full(void); /* likewise, of those that executed an interval's instructions */
HIDDEN void rows_end(void);	   /* likewise, and the end of the run */
HIDDEN void rows_replace(void);	   /* likewise, and that the process may become another program */
HIDDEN void rows_forget(void);

/* ---- output.c: whose profile it is and where it goes ---- */

HIDDEN void output_initialise(void);
HIDDEN void output_forget(void);
HIDDEN const char *output_path(void);
HIDDEN void output_describe(void); /* writes the head */
HIDDEN long output_process(void);

/* ---- interval.c: how long intervals are ---- */

HIDDEN void interval_choose(const char *text);
HIDDEN void interval_begin(void);
HIDDEN uint64_t interval_elapsed(void); /* nanoseconds of processor time since then */
HIDDEN uint64_t interval_before(void);	/* and those before */
HIDDEN uint64_t interval_length(void);
HIDDEN bool interval_is_instructions(void);
HIDDEN void interval_fit(uint64_t elapsed); /* after a row: doubles where there are too many */

/* ---- sampler.c ---- */

HIDDEN void sampler_start(void);

/* ---- process.c ---- */

/* Write all there is, where the process ends or may become another program. */
HIDDEN void process_ends(void);
HIDDEN void process_may_be_replaced(void);

#endif
