/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte ring in shared memory, with one producer and one consumer, which may run under different
 * kernels.
 *
 * A side that has to wait sets its `_waits` flag, checks the ring once more, and sleeps until the
 * other side rings the doorbell. Setting the flag and checking the ring are sequentially
 * consistent, and so are advancing the ring and reading the flag on the other side. So either the
 * waiting side sees the advance, or the other side sees the flag.
 */
#ifndef KADENCE_BOOT_RING_H
#define KADENCE_BOOT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t offset; /* of the bytes, from the beginning of the shared memory */
	uint64_t size;	 /* a power of two */
	_Atomic uint64_t produced;
	_Atomic uint64_t consumed;
	_Atomic uint32_t ended;	    /* the producer will produce no more */
	_Atomic uint32_t abandoned; /* the consumer will consume no more */
	_Atomic uint32_t producer_waits;
	_Atomic uint32_t consumer_waits;
};

struct span {
	char *bytes;
	size_t length;
};

/* The bytes that can be taken without wrapping around. */
static inline struct span ring_filled(struct ring *ring, char *base)
{
	uint64_t consumed = atomic_load(&ring->consumed);
	uint64_t length = atomic_load(&ring->produced) - consumed;
	uint64_t start = consumed & (ring->size - 1);

	if (length > ring->size - start)
		length = ring->size - start;
	return (struct span){base + ring->offset + start, length};
}

/* The room that can be filled without wrapping around. */
static inline struct span ring_room(struct ring *ring, char *base)
{
	uint64_t produced = atomic_load(&ring->produced);
	uint64_t length = ring->size - (produced - atomic_load(&ring->consumed));
	uint64_t start = produced & (ring->size - 1);

	if (length > ring->size - start)
		length = ring->size - start;
	return (struct span){base + ring->offset + start, length};
}

/* Each of the next four functions returns whether the other side has to be woken. */
static inline bool ring_produce(struct ring *ring, size_t length)
{
	atomic_fetch_add(&ring->produced, length);
	return atomic_exchange(&ring->consumer_waits, 0);
}

static inline bool ring_consume(struct ring *ring, size_t length)
{
	atomic_fetch_add(&ring->consumed, length);
	return atomic_exchange(&ring->producer_waits, 0);
}

static inline bool ring_end(struct ring *ring)
{
	return !atomic_exchange(&ring->ended, 1);
}

static inline bool ring_abandon(struct ring *ring)
{
	return !atomic_exchange(&ring->abandoned, 1);
}

static inline bool ring_empty(struct ring *ring)
{
	return atomic_load(&ring->produced) == atomic_load(&ring->consumed);
}

static inline bool ring_full(struct ring *ring)
{
	return atomic_load(&ring->produced) - atomic_load(&ring->consumed) == ring->size;
}

/* Read `ended` first: a consumer that sees the end must also see all bytes produced before it. */
static inline bool ring_finished(struct ring *ring)
{
	return atomic_load(&ring->ended) && ring_empty(ring);
}

/* True if the consumer may sleep until the doorbell rings. */
static inline bool ring_consumer_sleeps(struct ring *ring)
{
	atomic_store(&ring->consumer_waits, 1);
	return ring_empty(ring) && !atomic_load(&ring->ended);
}

/* True if the producer may sleep until the doorbell rings. */
static inline bool ring_producer_sleeps(struct ring *ring)
{
	atomic_store(&ring->producer_waits, 1);
	return ring_full(ring) && !atomic_load(&ring->abandoned);
}

#endif
