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

int ring_open(struct test_ring *ring, uint32_t bytes)
{
	*ring = (struct test_ring){.device = open_device(), .shape.bytes = bytes};
	if (ring->device < 0 || ioctl(ring->device, KADAPT_RING, &ring->shape))
		return -1;
	return ring_map(ring);
}

int ring_bind_with(const struct test_ring *ring, int descriptor, uint32_t flags, uint64_t delay_ns)
{
	struct kadapt_binding binding = {
	    .ring = ring->shape.number,
	    .descriptor = descriptor,
	    .flags = flags,
	    .delay_ns = delay_ns,
	};

	return ioctl(ring->device, KADAPT_BIND, &binding);
}

int ring_bind(const struct test_ring *ring, int descriptor)
{
	return ring_bind_with(ring, descriptor, 0, 0);
}

int ring_drain(const struct test_ring *ring, unsigned long flags)
{
	return ioctl(ring->device, KADAPT_DRAIN, ring->shape.number | flags);
}

int ring_unbind(const struct test_ring *ring)
{
	return ioctl(ring->device, KADAPT_UNBIND, (unsigned long)ring->shape.number);
}

int ring_append(struct test_ring *ring, const void *record, size_t length)
{
	if (ring->tail + length > ring->header->limit)
		return 0;
	memcpy(ring->data + ring->tail % ring->shape.bytes, record, length);
	ring->tail += length;
	__atomic_store_n(&ring->header->tail, ring->tail, __ATOMIC_RELEASE);
	return 1;
}

uint64_t ring_pending(const struct test_ring *ring)
{
	return ring->tail - ring->header->head;
}

int ring_is_bound(const struct test_ring *ring)
{
	return (ring->header->state & KADAPT_RING_BOUND) != 0;
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
