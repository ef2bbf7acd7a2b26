// SPDX-License-Identifier: GPL-2.0-or-later
/* Touches by io_uring, of which each opens its own queue. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard_touches.h"

struct rings {
	int queue;
	char *submissions, *completions;
	struct io_uring_sqe *entries;
	struct io_uring_params shape;
};

static void *map_rings(const struct rings *rings, size_t size, off_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, rings->queue, offset);
}

static int open_rings(struct rings *rings)
{
	memset(rings, 0, sizeof(*rings));
	rings->queue = (int)syscall(SYS_io_uring_setup, 1, &rings->shape);
	if (rings->queue < 0)
		return -1;
	rings->submissions = map_rings(rings, 4096, IORING_OFF_SQ_RING);
	rings->completions = map_rings(rings, 4096, IORING_OFF_CQ_RING);
	rings->entries = map_rings(rings, 4096, IORING_OFF_SQES);
	return 0;
}

static long through_rings(const struct io_uring_sqe *request)
{
	struct rings rings;
	const struct io_uring_cqe *done;

	if (open_rings(&rings))
		return -errno;
	rings.entries[0] = *request;
	*(uint32_t *)(rings.submissions + rings.shape.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(rings.submissions + rings.shape.sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, rings.queue, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	done = (const void *)(rings.completions + rings.shape.cq_off.cqes);
	close(rings.queue);
	return done->res;
}

long by_io_uring(int file)
{
	const struct io_uring_sqe request = {
	    .opcode = IORING_OP_WRITE,
	    .fd = file,
	    .off = (uint64_t)-1,
	    .addr = (uintptr_t)TEXT,
	    .len = 5,
	};

	return through_rings(&request);
}

/* At the file's position, which io_uring reads in a thread of its own. */
long by_io_uring_splice(int file)
{
	struct io_uring_sqe request = {
	    .opcode = IORING_OP_SPLICE,
	    .fd = file,
	    .off = (uint64_t)-1,
	    .splice_off_in = (uint64_t)-1,
	    .len = 5,
	};
	int ends[2];
	long answer;

	if (pipe(ends) || write(ends[1], TEXT, 5) != 5)
		return -1000;
	request.splice_fd_in = ends[0];
	answer = through_rings(&request);
	close(ends[0]);
	close(ends[1]);
	return answer;
}

/* Writes at the offset where the pending text begins. */
long by_io_uring_at(int file)
{
	const struct io_uring_sqe request = {
	    .opcode = IORING_OP_WRITE,
	    .fd = file,
	    .off = sizeof(BEFORE) - 1,
	    .addr = (uintptr_t)TEXT,
	    .len = 5,
	};

	return through_rings(&request);
}

long by_io_uring_sync(int file)
{
	const struct io_uring_sqe request = {.opcode = IORING_OP_FSYNC, .fd = file};

	return through_rings(&request);
}
