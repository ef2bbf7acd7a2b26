/* SPDX-License-Identifier: MIT */
/*
 * The append: what a record costs when all is well.
 *
 * No lock is held, so a handler may leave an append by a jump, a thread may be
 * cancelled in it, and a child may be forked in it, at any instruction:
 *
 * - The record counts from the compare-and-exchange of the tail on, one instruction.
 *   It fails when the kernel has closed the ring, or has bound it anew.
 * - Only the thread that bound the ring copies into it. While it does, `writer` is 0,
 *   so a handler that interrupts it makes the plain call: the kernel then closes the
 *   ring, and the append that goes on after the handler fails and is made plainly.
 * - An append that is left by a jump leaves `writer` 0. Then the ring is of no more
 *   use, and the thread takes another (pool.c).
 * - A child has other memory in the place of the ring, where the tail is 0, as no
 *   ring's is: an append that it goes on with fails.
 */
#ifndef LIBKADAPT_APPEND_H
#define LIBKADAPT_APPEND_H

#include <stddef.h>
#include <sys/uio.h>

#include "channel.h"
#include "copy.h"

/* Longer records are written as they are: copying would cost more than the call. */
#define KADAPT_RECORD_MAX (KADAPT_RING_DEFAULT / 4)

/* Where the data begins behind the header; the pool takes no rings of another layout. */
#define KADAPT_RING_DATA 4096

/*
 * The thread's number, a multiple of twice KADAPT_CHANNELS. Numbers are never given
 * again; thread pointers and the kernel's thread numbers are. A thread that never
 * bound a ring has a number whose marks no ring carries.
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

/* A closed ring's tail is above every limit. A record never wraps: the data is mapped twice. */
static inline __attribute__((always_inline)) char *kadapt_place(struct kadapt_ring_header *header,
								uint64_t tail, size_t size)
{
	if (__builtin_expect(tail + size > __atomic_load_n(&header->limit, __ATOMIC_ACQUIRE), 0))
		return NULL;
	return (char *)header + KADAPT_RING_DATA + (tail & (KADAPT_RING_DEFAULT - 1));
}

/* Is the ring the calling thread's, for this descriptor? Then the thread is inside. */
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
 * 1, or 0 with nothing done. For sizes from 1 on: to KADAPT_SHORT_MAX where `is_short`,
 * which needs no function's help and so no frame, else to KADAPT_RECORD_MAX.
 */
static inline __attribute__((always_inline)) int kadapt_append(int descriptor, const void *record,
							       size_t size, int is_short)
{
	struct kadapt_ring_header *header =
	    kadapt_header_of(&kadapt_channels[(unsigned int)descriptor]);
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
		/* Lest its sum with the size take a register of its own, and the caller a frame. */
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
