// SPDX-License-Identifier: GPL-2.0-or-later
/* See submissions.h. */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lab.h"
#include "submissions.h"

/* An offset that means the file's own position. */
#define ITS_POSITION UINT64_MAX

static int ring = -1;
static struct io_uring_params layout;
static char *queues; /* submissions and completions, in one mapping */
static size_t queues_bytes;
static struct io_uring_sqe *entries;
static size_t entries_bytes;

static uint32_t *at(uint32_t offset)
{
	return (uint32_t *)(queues + offset);
}

static int map_queues(void)
{
	size_t submissions = layout.sq_off.array + layout.sq_entries * sizeof(uint32_t);
	size_t completions = layout.cq_off.cqes + layout.cq_entries * sizeof(struct io_uring_cqe);

	if (!(layout.features & IORING_FEAT_SINGLE_MMAP))
		return -EOPNOTSUPP;
	queues_bytes = submissions > completions ? submissions : completions;
	queues = mmap(NULL, queues_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
		      IORING_OFF_SQ_RING);
	entries_bytes = layout.sq_entries * sizeof(*entries);
	entries = mmap(NULL, entries_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
		       IORING_OFF_SQES);
	return queues == MAP_FAILED || entries == MAP_FAILED ? -errno : 0;
}

int submissions_open(void)
{
	memset(&layout, 0, sizeof(layout));
	ring = syscall(SYS_io_uring_setup, RECORDS_PER_CALL, &layout);
	return ring < 0 ? -errno : map_queues();
}

static void fill_entries(int descriptor, const char *first, long stride, long size)
{
	for (uint32_t i = 0; i < RECORDS_PER_CALL; i++) {
		entries[i] = (struct io_uring_sqe){
		    .opcode = IORING_OP_WRITE,
		    .flags = i + 1 < RECORDS_PER_CALL ? IOSQE_IO_LINK : 0,
		    .fd = descriptor,
		    .addr = (uintptr_t)(first + i * stride),
		    .len = size,
		    .off = ITS_POSITION,
		};
		at(layout.sq_off.array)[i] = i;
	}
}

static int submit_and_wait(void)
{
	uint32_t *tail = at(layout.sq_off.tail);
	long taken;

	__atomic_store_n(tail, *tail + RECORDS_PER_CALL, __ATOMIC_RELEASE);
	taken = syscall(SYS_io_uring_enter, ring, RECORDS_PER_CALL, RECORDS_PER_CALL,
			IORING_ENTER_GETEVENTS, NULL, 0);
	if (taken != RECORDS_PER_CALL)
		return taken < 0 ? -errno : -EIO;
	return 0;
}

/* Checks that every record of a call was written whole. */
static int reap(long size)
{
	struct io_uring_cqe *completions = (struct io_uring_cqe *)(queues + layout.cq_off.cqes);
	uint32_t mask = *at(layout.cq_off.ring_mask);
	uint32_t *head = at(layout.cq_off.head);
	uint32_t tail = __atomic_load_n(at(layout.cq_off.tail), __ATOMIC_ACQUIRE);
	int error = tail - *head == RECORDS_PER_CALL ? 0 : -EIO;

	for (uint32_t i = *head; i != tail; i++)
		if (completions[i & mask].res != size)
			error = completions[i & mask].res < 0 ? completions[i & mask].res : -EIO;
	__atomic_store_n(head, tail, __ATOMIC_RELEASE);
	return error;
}

int submissions_write(int descriptor, const char *first, long stride, long size)
{
	int error;

	fill_entries(descriptor, first, stride, size);
	error = submit_and_wait();
	return error ? error : reap(size);
}

void submissions_close(void)
{
	if (queues && queues != MAP_FAILED)
		munmap(queues, queues_bytes);
	if (entries && (void *)entries != MAP_FAILED)
		munmap(entries, entries_bytes);
	queues = NULL;
	entries = NULL;
	if (ring >= 0)
		close(ring);
	ring = -1;
}
