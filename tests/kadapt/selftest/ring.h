/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring as a program uses one, straight from the header's comments. */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>

#include "kadapt.h"

struct test_ring {
	int device;
	struct kadapt_new_ring shape;
	volatile struct kadapt_ring_header *header;
	char *data;
};

/* 0 or -1 with errno; ring_open() opens the device for it. */
int ring_make(struct test_ring *ring, int device, uint32_t bytes);
int ring_open(struct test_ring *ring, uint32_t bytes);
int ring_map(struct test_ring *ring);
int ring_bind(const struct test_ring *ring, int descriptor);
int ring_bind_for(const struct test_ring *ring, int descriptor, uint64_t delay_ns);
int ring_drain(const struct test_ring *ring);
int ring_unbind(const struct test_ring *ring);

/* 1 if it was accepted, 0 if there is no room, or the ring is closed. */
int ring_append(struct test_ring *ring, const void *record, size_t length);

/* The two halves of it: the tail that the record is put at, or no tail; and that it counts. */
#define NO_TAIL UINT64_MAX
uint64_t ring_put(struct test_ring *ring, const void *record, size_t length);
int ring_publish(struct test_ring *ring, uint64_t tail, size_t length);

/* The tail without the bit, what is pending, and whether a descriptor is held. */
uint64_t ring_tail(const struct test_ring *ring);
uint64_t ring_pending(const struct test_ring *ring);
int ring_is_bound(const struct test_ring *ring);
int ring_is_closed(const struct test_ring *ring);

/* A folder of tmpfs, made if need be: it has leases and reserves space. */
const char *scratch_folder(void);
int open_scratch(const char *name, int flags);

/* One of its files, emptied. */
#define SCRATCH_FILE "ring.out"
int fresh_scratch(void);

/* Is the file's content this many records "0\n", "1\n" ...? */
int has_records(int file, int count);
/* Append such records, draining where the ring asks for it; how many went in. */
int append_records(struct test_ring *ring, int first, int count);

#endif
