/* SPDX-License-Identifier: MIT */
/*
 * A reading is what the library knows of how a descriptor is read. While a
 * window of the kernel's shows what comes next, records are copied from there,
 * and the position is the library's; before anything else that uses the
 * position, the kernel is told of it.
 *
 * Who changes a reading is inside the descriptor's channel. A signal handler
 * that interrupted the thread there goes on without being inside, and so may it
 * within a copy: the position is therefore only ever taken over by an exchange
 * that fails where it is another by now.
 */
#ifndef LIBKADAPT_READING_H
#define LIBKADAPT_READING_H

#include "append.h"
#include "channel.h"

struct kadapt_reading {
	uint64_t generation; /* the copy counts while *shown is this */
	const __u64 *shown;  /* the generation in the window's header */
	uintptr_t origin;    /* a position plus this is its address in the window */
	int64_t position;    /* of the next record; KADAPT_POSITION_* if not negative */
	int64_t end;	     /* records are copied up to here */
	int64_t start;	     /* position from which on the window shows the file, */
	int64_t until;	     /* and up to which */
	uint64_t records;    /* that were copied out of windows, ever */
	uint64_t begun;	     /* of these, when the position became the library's */
	uint32_t window;     /* index in the pool plus 1; 0: none */
	uint32_t streak;     /* plain reads in a row that could have been copies */
	uint32_t patience;   /* how much longer than the shortest a streak must be */
	uint8_t is_streams;  /* of the C library's, which reads where nobody sees it */
} __attribute__((aligned(64)));

/*
 * Offsets are kept less 2^63, so that a position which is the kernel's, 0 as
 * all begin, is beyond the end of all that a window shows.
 */
#define KADAPT_POSITION_KERNELS 0
/* The same, and a thread is about to take it over. */
#define KADAPT_POSITION_TAKEN 1

/* Longer records are read as they are: to copy them costs as much as the call. */
#define KADAPT_READ_MAX 2048

extern struct kadapt_reading kadapt_readings[KADAPT_CHANNELS] KADAPT_HIDDEN;

/* Windows that may show something, a bit each. */
extern _Atomic uint64_t kadapt_looked KADAPT_HIDDEN;

/* Whether this process may have windows. */
extern int kadapt_has_windows KADAPT_HIDDEN;

/* KADAPT_LOOK calls, for the report. */
extern _Atomic uint64_t kadapt_looks KADAPT_HIDDEN;

/* Is it the library's? */
static inline int kadapt_is_ahead(int64_t position)
{
	return position < 0;
}

/* From an offset in the file and back. */
static inline int64_t kadapt_position_at(uint64_t offset)
{
	return (int64_t)(offset ^ 1ULL << 63);
}

static inline uint64_t kadapt_offset_at(int64_t position)
{
	return (uint64_t)position ^ 1ULL << 63;
}

/* Make the position another; 0 if it is not `from` any more. */
static inline int kadapt_move_position(struct kadapt_reading *reading, int64_t from, int64_t to)
{
#ifdef __x86_64__
	uint8_t moved;

	/* Against this thread's handlers only, so without a locked cycle. */
	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(moved), "+m"(reading->position), "+a"(from)
			 : "r"(to)
			 : "memory");
	return moved;
#else
	return __atomic_compare_exchange_n(&reading->position, &from, to, 0, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

/*
 * As read(2), if the window shows all of the record: 1, or 0 with nothing read.
 * By a thread that is alone or inside the channel.
 *
 * As a sequence lock's reader: the kernel changes the generation before anybody
 * gets to change what is shown.
 */
static inline __attribute__((always_inline)) int
kadapt_copy_shown(struct kadapt_reading *reading, void *record, size_t size, int is_short)
{
	uint64_t generation;
	const char *place;
	int64_t position;

	/* Lest its address be computed anew from the descriptor for each use. */
	__asm__("" : "+r"(reading));
	generation = __atomic_load_n(&reading->generation, __ATOMIC_RELAXED);
	/* A handler may let the window look elsewhere from here on. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	position = __atomic_load_n(&reading->position, __ATOMIC_RELAXED);
	if (position + (int64_t)size > __atomic_load_n(&reading->end, __ATOMIC_RELAXED))
		return 0;
	place = (const char *)(reading->origin + (uint64_t)position);
	if (is_short)
		kadapt_copy_short(record, place, size);
	else
		kadapt_copy(record, place, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__builtin_expect(__atomic_load_n(reading->shown, __ATOMIC_RELAXED) != generation, 0))
		return 0;
	if (!kadapt_move_position(reading, position, position + (int64_t)size))
		return 0;
	reading->records++;
	return 1;
}

/* The reading, or NULL. */
static inline struct kadapt_reading *kadapt_reading_of(int descriptor)
{
	return kadapt_has_channel(descriptor) ? &kadapt_readings[descriptor] : NULL;
}

/*
 * Make the position the library's, with the window showing what is there; 1, or
 * 0 with the position the kernel's. From inside the channel.
 */
KADAPT_HIDDEN int kadapt_get_ahead(struct kadapt_reading *reading);

/* Have the window show what comes next; as kadapt_get_ahead(). */
KADAPT_HIDDEN int kadapt_look_on(struct kadapt_reading *reading);

/* The kernel is told of the position, which is its own from here on. */
KADAPT_HIDDEN void kadapt_locate(int descriptor);

/* The same, and others will have the open file: what the window shows is not used again. */
KADAPT_HIDDEN void kadapt_look_away(int descriptor);
KADAPT_HIDDEN void kadapt_look_away_everywhere(void);

/* The number refers to something else from now on, or soon. */
KADAPT_HIDDEN void kadapt_reading_forget(int descriptor);

/* One of the C library's streams has the number, until that refers to something else. */
KADAPT_HIDDEN void kadapt_reading_is_streams(int descriptor);

/* In a forked child: the windows are the parent's. */
KADAPT_HIDDEN void kadapt_readings_forget(void);

/* Records that were copied out of windows. */
KADAPT_HIDDEN uint64_t kadapt_readings_records(void);

#endif
