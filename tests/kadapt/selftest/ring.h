/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses a ring as the comments of uapi/kadapt.h tell a program to. */
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

/* Return 0, or -1 and errno. ring_open() also opens the device. */
int ring_make(struct test_ring *ring, int device, uint32_t bytes);
int ring_open(struct test_ring *ring, uint32_t bytes);
int ring_map(struct test_ring *ring);
int ring_bind(const struct test_ring *ring, int descriptor);
int ring_bind_for(const struct test_ring *ring, int descriptor, uint64_t delay_ns);
int ring_drain(const struct test_ring *ring);
int ring_unbind(const struct test_ring *ring);

/* Returns 1 if the record was accepted, 0 if there is no room or the ring is closed. */
int ring_append(struct test_ring *ring, const void *record, size_t length);

/*
 * The two halves of ring_append(). ring_put() copies the record and returns the tail at
 * which it lies, or NO_TAIL. ring_publish() moves the tail; 1 if the record was accepted.
 */
#define NO_TAIL UINT64_MAX
uint64_t ring_put(struct test_ring *ring, const void *record, size_t length);
int ring_publish(struct test_ring *ring, uint64_t tail, size_t length);

/* The tail without KADAPT_RING_CLOSED; the bytes not drained yet; the ring's state. */
uint64_t ring_tail(const struct test_ring *ring);
uint64_t ring_pending(const struct test_ring *ring);
int ring_is_bound(const struct test_ring *ring);
int ring_is_closed(const struct test_ring *ring);

/* Returns a folder on tmpfs, mounted if necessary. tmpfs has leases and reserves space. */
const char *scratch_folder(void);
int open_scratch(const char *name, int flags);

/* Opens this file of the folder, emptied. */
#define SCRATCH_FILE "ring.out"
int fresh_scratch(void);

/* Returns whether the file holds exactly `count` records: "0\n", "1\n", ... */
int has_records(int file, int count);
/* Appends such records; drains the ring when it is full. Returns how many were accepted. */
int append_records(struct test_ring *ring, int first, int count);

#endif
