// SPDX-License-Identifier: GPL-2.0-or-later
/* When the ring's process, device or mapping ends, no accepted record is lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

#define LONG_DELAY 1000000000ULL

static int write_and_die(void *how)
{
	struct test_ring ring;
	int file = open_scratch(SCRATCH_FILE, O_WRONLY | O_CREAT | O_TRUNC);

	if (ring_open(&ring, 0) || ring_bind_for(&ring, file, LONG_DELAY) ||
	    append_records(&ring, 0, 1000) != 1000)
		return 2;
	if (*(char *)how == 'k')
		kill(getpid(), SIGKILL);
	if (*(char *)how == 'a')
		abort();
	if (*(char *)how == 'x') {
		execl("/proc/self/exe", "kadapt-selftest", NO_CASE, NULL);
		return 1;
	}
	return 0;
}

/* The records are in the file when wait(2) returns. */
static enum outcome dies_by(char how)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(write_and_die(&how));
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 2);
	CHECK(has_records(open_scratch(SCRATCH_FILE, O_RDONLY), 1000));
	return PASSED;
}

static enum outcome test_exit(void)
{
	return dies_by('e');
}

static enum outcome test_kill(void)
{
	return dies_by('k');
}

static enum outcome test_abort(void)
{
	return dies_by('a');
}

static enum outcome test_exec(void)
{
	return dies_by('x');
}

static enum outcome test_close_device(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(close(ring.device) == 0);
	CHECK(has_records(file, 100));
	CHECK(ring.header->limit == 0);
	return PASSED;
}

static int is_forgotten(const struct test_ring *ring)
{
	return ring_drain(ring) == -1 && errno == ENOENT;
}

static enum outcome test_unmap(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	void *memory;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	memory = (void *)ring.header;
	/* The program can neither unmap a part of the ring nor move the ring. */
	CHECK_ERRNO(munmap(memory, 4096), EINVAL);
	CHECK(mremap(memory, ring.shape.map_bytes, ring.shape.map_bytes,
		     MREMAP_MAYMOVE | MREMAP_FIXED, (char *)memory + (1 << 30)) == MAP_FAILED);
	CHECK(munmap(memory, ring.shape.map_bytes) == 0);
	for (int i = 0; i < 1000 && !has_records(file, 100); i++)
		sleep_for(NS_PER_MS);
	CHECK(has_records(file, 100));
	/* The kernel writes the records, lets the file go, and forgets the ring, in this order. */
	for (int i = 0; i < 1000 && !is_forgotten(&ring); i++)
		sleep_for(NS_PER_MS);
	CHECK(is_forgotten(&ring));
	return PASSED;
}

const struct test_case ring_end_cases[] = {
    {"ring_exit", "records of a process that ended", test_exit},
    {"ring_kill", "records of a process that was killed", test_kill},
    {"ring_abort", "records of a process that aborted", test_abort},
    {"ring_exec", "records of a process that executed another program", test_exec},
    {"ring_close_device", "closing the device drains", test_close_device},
    {"ring_unmap", "unmapping the ring drains and ends it", test_unmap},
    {0},
};
