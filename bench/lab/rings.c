// SPDX-License-Identifier: GPL-2.0-or-later
/* Records written through io_uring, 64 to a call, without a library. */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lab.h"

/* Its workers share the processor with the program: fewer rounds differ from boot to boot. */
#define ENOUGH_ROUNDS 11

static char record[LARGEST_RECORD];
static int file = -1;
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

static int open_ring(long unused)
{
	(void)unused;
	memset(&layout, 0, sizeof(layout));
	memset(record, 'k', sizeof(record));
	file = sink_open();
	if (file < 0)
		return file;
	ring = syscall(SYS_io_uring_setup, RECORDS_PER_CALL, &layout);
	return ring < 0 ? -errno : map_queues();
}

static int rewind_file(long unused)
{
	(void)unused;
	return sink_rewind();
}

static void fill_entries(long size, long first)
{
	for (uint32_t i = 0; i < RECORDS_PER_CALL; i++) {
		entries[i] = (struct io_uring_sqe){
		    .opcode = IORING_OP_WRITE,
		    .flags = i + 1 < RECORDS_PER_CALL ? IOSQE_IO_LINK : 0,
		    .fd = file,
		    .addr = (uintptr_t)record,
		    .len = size,
		    .off = (uint64_t)(first + i) * size,
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

/* All of a call's records must have been written whole. */
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

static int run_ring(long size, long count)
{
	int error = 0;

	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		fill_entries(size, i);
		error = submit_and_wait();
		if (!error)
			error = reap(size);
	}
	return error;
}

static void close_ring(void)
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
	sink_close();
}

#define RING(bytes)                                                                                \
	{                                                                                          \
		.name = "io_uring_" #bytes, .unit = "ns", .argument = bytes,                       \
		.batch = RECORDS_PER_ROUND, .rounds = ENOUGH_ROUNDS, .prepare = open_ring,         \
		.rewind = rewind_file, .run = run_ring, .finish = close_ring,                      \
	}

const struct operation ring_operations[] = {
    RING(16),
    RING(256),
    RING(1024),
    {0},
};
