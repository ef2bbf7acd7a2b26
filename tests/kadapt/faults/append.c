// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "append.h"
#include "device.h"

int drain_patiently(const struct test_ring *ring)
{
	return ring_drain(ring, KADAPT_DRAIN_WAIT | KADAPT_DRAIN_NOSIGNAL);
}

/* Of a ring that was let go while the record was appended: the record, and nothing before it. */
static enum appended take_back(struct test_ring *ring, size_t size)
{
	if (ring_pending(ring) != size) {
		errno = EPROTO;
		return BROKEN;
	}
	ring->tail -= size;
	__atomic_store_n(&ring->header->tail, ring->tail, __ATOMIC_SEQ_CST);
	return NO_ROOM;
}

enum appended append(struct test_ring *ring, int descriptor, const void *record, size_t size)
{
	if (!ring_append(ring, record, size))
		return NO_ROOM;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ring->tail <= ring->header->limit || drain_patiently(ring) == 0)
		return APPENDED;
	if (errno != ENOLINK)
		return BROKEN;
	/* Along with what comes next, or by write(2). */
	return ring_bind(ring, descriptor) == 0 ? APPENDED : take_back(ring, size);
}

uint64_t device_features(void)
{
	struct kadapt_query query = {0};
	int device = open_device();

	if (device < 0)
		return 0;
	if (ioctl(device, KADAPT_QUERY, &query))
		query.features = 0;
	close(device);
	return query.features;
}
