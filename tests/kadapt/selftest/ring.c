// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "device.h"
#include "ring.h"

int ring_map(struct test_ring *ring)
{
	void *memory = mmap(NULL, ring->shape.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    ring->device, (off_t)ring->shape.map_offset);

	if (memory == MAP_FAILED)
		return -1;
	ring->header = memory;
	ring->data = (char *)memory + ring->shape.data_offset;
	return 0;
}

int ring_make(struct test_ring *ring, int device, uint32_t bytes)
{
	*ring = (struct test_ring){.device = device, .shape.bytes = bytes};
	if (device < 0 || ioctl(device, KADAPT_RING, &ring->shape))
		return -1;
	return ring_map(ring);
}

int ring_open(struct test_ring *ring, uint32_t bytes)
{
	return ring_make(ring, open_device(), bytes);
}

int ring_bind_for(const struct test_ring *ring, int descriptor, uint64_t delay_ns)
{
	struct kadapt_binding binding = {
	    .ring = ring->shape.number,
	    .descriptor = descriptor,
	    .delay_ns = delay_ns,
	};

	return ioctl(ring->device, KADAPT_BIND, &binding);
}

int ring_bind(const struct test_ring *ring, int descriptor)
{
	return ring_bind_for(ring, descriptor, 0);
}

int ring_drain(const struct test_ring *ring)
{
	return ioctl(ring->device, KADAPT_DRAIN, (unsigned long)ring->shape.number);
}

int ring_unbind(const struct test_ring *ring)
{
	return ioctl(ring->device, KADAPT_UNBIND, (unsigned long)ring->shape.number);
}

uint64_t ring_put(struct test_ring *ring, const void *record, size_t length)
{
	uint64_t tail = __atomic_load_n(&ring->header->tail, __ATOMIC_ACQUIRE);

	/* A closed ring's tail is above every limit. */
	if (tail + length > ring->header->limit)
		return NO_TAIL;
	memcpy(ring->data + tail % ring->shape.bytes, record, length);
	return tail;
}

int ring_publish(struct test_ring *ring, uint64_t tail, size_t length)
{
	return __atomic_compare_exchange_n(&ring->header->tail, &tail, tail + length, 0,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

int ring_append(struct test_ring *ring, const void *record, size_t length)
{
	uint64_t tail = ring_put(ring, record, length);

	return tail != NO_TAIL && ring_publish(ring, tail, length);
}

uint64_t ring_tail(const struct test_ring *ring)
{
	return ring->header->tail & ~KADAPT_RING_CLOSED;
}

uint64_t ring_pending(const struct test_ring *ring)
{
	return ring_tail(ring) - ring->header->head;
}

int ring_is_bound(const struct test_ring *ring)
{
	return (ring->header->state & KADAPT_RING_BOUND) != 0;
}

int ring_is_closed(const struct test_ring *ring)
{
	return (ring->header->tail & KADAPT_RING_CLOSED) != 0;
}

const char *scratch_folder(void)
{
	static const char name[] = "/dev/shm";
	struct statfs about;

	mkdir(name, 01777);
	if (statfs(name, &about) || about.f_type != TMPFS_MAGIC)
		mount("tmpfs", name, "tmpfs", 0, NULL);
	return name;
}

int open_scratch(const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", scratch_folder(), name);
	return open(path, flags | O_CLOEXEC, 0600);
}

int fresh_scratch(void)
{
	return open_scratch(SCRATCH_FILE, O_RDWR | O_CREAT | O_TRUNC);
}

int has_records(int file, int count)
{
	char expected[1 << 20], found[1 << 20];
	size_t length = 0;

	for (int i = 0; i < count; i++)
		length += (size_t)sprintf(expected + length, "%d\n", i);
	if (pread(file, found, sizeof(found), 0) != (ssize_t)length)
		return 0;
	return !memcmp(expected, found, length);
}

int append_records(struct test_ring *ring, int first, int count)
{
	for (int i = 0; i < count; i++) {
		char record[32];
		size_t length = (size_t)sprintf(record, "%d\n", first + i);

		if (ring_append(ring, record, length))
			continue;
		if (ring_drain(ring) || !ring_append(ring, record, length))
			return i;
	}
	return count;
}
