/* SPDX-License-Identifier: MIT */
/*
 * The append: all that a record costs during a burst.
 *
 * It holds no lock. So at any instruction a signal handler may leave it by a jump, the
 * thread may be cancelled, and a child may be forked:
 *
 * - One instruction, the compare-and-exchange of the tail, accepts the record. It
 *   fails if the kernel has closed the ring or bound it again.
 * - Only the thread that bound the ring copies into it. Meanwhile `writer` is 0, so a
 *   handler that interrupts the copy makes the plain call. The plain call makes the
 *   kernel close the ring. Then the interrupted append fails and is made plainly.
 * - A jump out of an append leaves `writer` 0. The thread then replaces the ring
 *   (rings.c).
 * - A child has other pages in the ring's place, where the tail is 0. No ring's tail is
 *   0, so an append that the child continues fails.
 */
#ifndef LIBKADAPT_APPEND_H
#define LIBKADAPT_APPEND_H

#include <stddef.h>
#include <sys/uio.h>

#include "ring/copy.h"
#include "ring/slot.h"

/* Longer records are written plainly: copying would cost more than the call. */
#define KADAPT_RECORD_MAX (KADAPT_RING_DEFAULT / 4)

/* The offset of the data in the mapping. rings.c takes no rings of another layout. */
#define KADAPT_RING_DATA 4096

/*
 * The thread's number, a multiple of twice KADAPT_SLOTS. It is never reused, as thread
 * pointers and thread IDs are. The marks of a thread that never bound a ring are on no
 * ring.
 */
extern __thread uint64_t kadapt_thread KADAPT_HIDDEN KADAPT_AT_HAND;

/* A thread's mark for a descriptor. */
static inline uint64_t kadapt_writer(int descriptor)
{
	return kadapt_thread + (unsigned int)descriptor;
}

static inline uint64_t kadapt_tail(const struct kadapt_ring_header *header)
{
	return __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);
}

static inline int kadapt_is_open(const struct kadapt_ring_header *header)
{
	return !(kadapt_tail(header) & KADAPT_RING_CLOSED);
}

/* NULL if there is no room; a closed ring's tail is above every limit. */
static inline __attribute__((always_inline)) char *kadapt_place(struct kadapt_ring_header *header,
								uint64_t tail, size_t size)
{
	if (__builtin_expect(tail + size > __atomic_load_n(&header->limit, __ATOMIC_ACQUIRE), 0))
		return NULL;
	return (char *)header + KADAPT_RING_DATA + (tail & (KADAPT_RING_DEFAULT - 1));
}

/* Enter the ring if it belongs to this thread and descriptor. Returns 1 or 0. */
static inline __attribute__((always_inline)) int
kadapt_enter_ring(struct kadapt_ring_header *header, uint64_t writer)
{
	if (!header || header->writer != writer)
		return 0;
	header->writer = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 1;
}

static inline __attribute__((always_inline)) void
kadapt_leave_ring(struct kadapt_ring_header *header, uint64_t writer)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	header->writer = writer;
}

static inline __attribute__((always_inline)) int kadapt_publish(struct kadapt_ring_header *header,
								uint64_t tail, size_t size)
{
	return __atomic_compare_exchange_n(&header->tail, &tail, tail + size, 0, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

/*
 * Returns 1 if the record was accepted, else 0. The size is 1 to KADAPT_RECORD_MAX, or
 * to KADAPT_SHORT_MAX if `is_short`: then the copy calls no function, and the caller
 * needs no frame.
 */
static inline __attribute__((always_inline)) int kadapt_append(int descriptor, const void *record,
							       size_t size, int is_short)
{
	struct kadapt_ring_header *header =
	    kadapt_header_of(&kadapt_slots[(unsigned int)descriptor]);
	const uint64_t writer = kadapt_writer(descriptor);
	uint64_t tail;
	char *place;

	if (!kadapt_enter_ring(header, writer))
		return 0;
	tail = kadapt_tail(header);
	place = kadapt_place(header, tail, size);
	if (place) {
		if (is_short)
			kadapt_copy_short(place, record, size);
		else
			kadapt_copy(place, record, size);
		/* So the sum with the size takes no further register, and the caller no frame. */
		__asm__("" : "+r"(tail));
		if (__builtin_expect(kadapt_publish(header, tail, size), 1)) {
			header->appends++;
			kadapt_leave_ring(header, writer);
			return 1;
		}
	}
	kadapt_leave_ring(header, writer);
	return 0;
}

#endif
