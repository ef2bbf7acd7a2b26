// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/single_threaded.h>

#include "ring/append.h"
#include "ring/burst.h"
#include "ring/record.h"
#include "ring/rings.h"

/* Report the error kept, once. */
static enum kadapt_outcome failed(const struct kadapt_ring_header *header)
{
	int error = header && header->error ? -kadapt_rings_drain(header) : 0;

	if (!error || error == ENOLINK)
		return KADAPT_PLAIN;
	errno = error;
	return KADAPT_FAILED;
}

static enum kadapt_outcome append_again(int descriptor, const void *record, size_t size)
{
	return kadapt_append(descriptor, record, size, 0) ? KADAPT_APPENDED : KADAPT_PLAIN;
}

/* The plain call unbinds another thread's ring. */
static enum kadapt_outcome make_room(int descriptor, const struct kadapt_ring_header *header,
				     const void *record, size_t size)
{
	if (header->writer != kadapt_writer(descriptor))
		return KADAPT_PLAIN;
	kadapt_rings_drain(header);
	return append_again(descriptor, record, size);
}

static enum kadapt_outcome bind_and_append(struct kadapt_slot *slot, const void *record,
					   size_t size)
{
	if (!kadapt_burst_is_on(slot))
		return KADAPT_PLAIN;
	if (!kadapt_rings_bind(slot)) {
		kadapt_burst_refused(slot);
		return KADAPT_PLAIN;
	}
	kadapt_burst_begins(slot);
	return append_again(kadapt_descriptor_of(slot), record, size);
}

static int is_record(const struct kadapt_slot *slot, size_t size)
{
	return slot && !kadapt_burst_is_off(slot) && size - 1 < KADAPT_RECORD_MAX;
}

/*
 * The record could not be appended: the ring is full or closed, or there is no ring yet. Drain the
 * ring, or bind one.
 */
static enum kadapt_outcome try_again(int descriptor, const void *record, size_t size)
{
	struct kadapt_slot *slot = kadapt_slot_of(descriptor);
	enum kadapt_outcome outcome = KADAPT_PLAIN;
	const struct kadapt_ring_header *header;

	if (!is_record(slot, size))
		return KADAPT_PLAIN;
	header = kadapt_header_of(slot);
	if (header && kadapt_is_open(header))
		return make_room(descriptor, header, record, size);
	if (slot->is_bound) {
		kadapt_burst_ended(slot);
		outcome = failed(header);
	}
	return outcome ? outcome : bind_and_append(slot, record, size);
}

static int append_at_once(int descriptor, const void *record, size_t size)
{
	return size - 1 < KADAPT_RECORD_MAX && kadapt_has_slot(descriptor) &&
	       kadapt_append(descriptor, record, size, 0);
}

enum kadapt_outcome kadapt_record_locked(int descriptor, const void *record, size_t size)
{
	if (append_at_once(descriptor, record, size))
		return KADAPT_APPENDED;
	return try_again(descriptor, record, size);
}

/*
 * write(2) is a cancellation point, and an append is none. So a thread can be cancelled
 * here, at the latest when the ring is full.
 */
enum kadapt_outcome kadapt_record_at_length(int descriptor, const void *record, size_t size)
{
	if (append_at_once(descriptor, record, size))
		return KADAPT_APPENDED;
	if (!__libc_single_threaded && is_record(kadapt_slot_of(descriptor), size))
		pthread_testcancel();
	return try_again(descriptor, record, size);
}
