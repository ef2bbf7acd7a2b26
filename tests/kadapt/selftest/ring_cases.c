// SPDX-License-Identifier: GPL-2.0-or-later
/* Each record that a ring accepts reaches its file once, in order and in time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

#define LONG_DELAY 1000000000ULL

static enum outcome test_file(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(ring_is_bound(&ring));
	CHECK(append_records(&ring, 0, 10000) == 10000);
	CHECK(ring_drain(&ring) == 0);
	CHECK(ring_pending(&ring) == 0);
	CHECK(has_records(file, 10000));
	CHECK(ring_unbind(&ring) == 0);
	CHECK(!ring_is_bound(&ring) && ring.header->limit == 0);
	/* The position is where write(2) would have left it. */
	CHECK(lseek(file, 0, SEEK_CUR) == lseek(file, 0, SEEK_END));
	return PASSED;
}

static enum outcome test_reservation_returned(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	struct stat held, returned;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 0, 10) == 10);
	CHECK(fstat(file, &held) == 0 && held.st_blocks * 512 >= 16384);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(fstat(file, &returned) == 0 && returned.st_blocks * 512 <= 4096);
	CHECK(has_records(file, 10));
	return PASSED;
}

static enum outcome test_delay(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	int64_t start;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	start = now();
	CHECK(append_records(&ring, 0, 3) == 3);
	while (ring_pending(&ring) && now() - start < NS_PER_S)
		;
	note("drained after %lld us", (long long)(now() - start) / NS_PER_US);
	CHECK(ring_pending(&ring) == 0);
	CHECK(has_records(file, 3));
	return PASSED;
}

static enum outcome test_let_go(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 0, 3) == 3);
	for (int i = 0; i < 1000 && ring_is_bound(&ring); i++)
		sleep_for(NS_PER_MS);
	CHECK(!ring_is_bound(&ring) && ring.header->limit == 0);
	CHECK(has_records(file, 3));
	/* The next binding continues where this one ended. */
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 3, 3) == 3);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(file, 6));
	return PASSED;
}

static enum outcome test_closed(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_is_closed(&ring) && !ring_append(&ring, "x", 1));
	CHECK_ERRNO(ring_drain(&ring), ENOLINK);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(!ring_is_closed(&ring) && append_records(&ring, 0, 2) == 2);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(ring_is_closed(&ring) && !ring_append(&ring, "x", 1));
	CHECK(ring_pending(&ring) == 0 && has_records(file, 2));
	return PASSED;
}

/* A record that was copied during one binding must not be accepted during the next. */
static enum outcome test_interrupted(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	uint64_t tail;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	tail = ring_put(&ring, "lost", 4);
	CHECK(tail != NO_TAIL);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(!ring_publish(&ring, tail, 4));
	for (int i = 0; i < 100; i++) {
		CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
		CHECK(!ring_publish(&ring, tail, 4));
		CHECK(append_records(&ring, i, 1) == 1);
		CHECK(ring_unbind(&ring) == 0);
	}
	CHECK(has_records(file, 100));
	return PASSED;
}

static enum outcome test_mark(void)
{
	struct test_ring ring;
	struct kadapt_binding binding = {.descriptor = fresh_scratch(), .mark_bytes = 100};
	struct kadapt_query query = {0};
	uint64_t delay_ns = KADAPT_FILE_DELAY_NS;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ioctl(ring.device, KADAPT_QUERY, &query) == 0);
	if (delay_ns < query.delay_min_ns)
		delay_ns = query.delay_min_ns;
	binding.ring = ring.shape.number;
	CHECK(ioctl(ring.device, KADAPT_BIND, &binding) == 0);
	CHECK(ring.header->limit == ring.header->head + 100);
	CHECK(binding.delay_ns == delay_ns);
	return PASSED;
}

static enum outcome test_hold(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 2) == 2);
	CHECK(write(file, "2\n", 2) == 2);
	CHECK(!ring_is_bound(&ring) && !ring_append(&ring, "x", 1));
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 3, 2) == 2);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(file, 5));
	return PASSED;
}

static enum outcome test_append_mode(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(write(file, "0\n", 2) == 2);
	close(file);
	file = open_scratch(SCRATCH_FILE, O_RDWR | O_APPEND);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 1, 5) == 5);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(file, 6));
	return PASSED;
}

/* The reader opens the file again, which breaks the lease. */
static enum outcome test_foreign_open(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	int reader;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(ring_pending(&ring) > 0);
	reader = open_scratch(SCRATCH_FILE, O_RDONLY);
	CHECK(reader >= 0);
	CHECK(has_records(reader, 100));
	/* The kernel clears the state after the limit, perhaps on another processor. */
	CHECK(ring.header->limit == 0);
	CHECK_ERRNO(ring_bind(&ring, file), ENOLCK);
	CHECK(!ring_is_bound(&ring));
	close(reader);
	CHECK(ring_bind(&ring, file) == 0);
	return PASSED;
}

static enum outcome test_foreign_truncate(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	char path[256];
	struct stat about;

	snprintf(path, sizeof(path), "%s/%s", scratch_folder(), SCRATCH_FILE);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(truncate(path, 4) == 0);
	CHECK(fstat(file, &about) == 0 && about.st_size == 4);
	CHECK(!ring_is_bound(&ring));
	CHECK(has_records(file, 2));
	return PASSED;
}

/* The ring is still mapped, but its pages are not present. */
static enum outcome test_pages_dropped(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 3000) == 3000);
	CHECK(madvise(ring.data, 2 * (size_t)ring.shape.bytes, MADV_DONTNEED) == 0);
	CHECK(ring_drain(&ring) == 0);
	CHECK(has_records(file, 3000));
	return PASSED;
}

static enum outcome test_phase_change(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(define(ring.device, 0, 0) == 0 && define(ring.device, 1, 0) == 0);
	CHECK(enter(ring.device, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(enter(ring.device, 1) == 0);
	CHECK(ring_pending(&ring) == 0 && has_records(file, 100));
	return PASSED;
}

static enum outcome test_policy_delay(void)
{
	int device = open_device();
	struct kadapt_policy policy = {.file_delay_ns = 30 * NS_PER_MS};
	struct kadapt_new_ring shape = {0};
	struct kadapt_binding binding = {.descriptor = fresh_scratch()};

	CHECK(ioctl(device, KADAPT_DEFINE, &policy) == 0);
	CHECK(enter(device, 0) == 0);
	CHECK(ioctl(device, KADAPT_RING, &shape) == 0);
	binding.ring = shape.number;
	CHECK(ioctl(device, KADAPT_BIND, &binding) == 0);
	CHECK(binding.delay_ns == 30 * NS_PER_MS);
	return PASSED;
}

static enum outcome test_file_size_limit(void)
{
	struct test_ring ring;
	struct rlimit limit = {1000, 1000};
	int file = fresh_scratch();
	struct stat about;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(ring_bind(&ring, file) == 0);
	/* The ring accepts no byte that write(2) would refuse. */
	CHECK(ring.header->limit == ring.header->head + 1000);
	while (ring_append(&ring, "0123456789abcdef", 16))
		;
	CHECK(write(file, "0123456789abcdef", 16) == 8);
	CHECK_ERRNO(write(file, "x", 1), EFBIG);
	CHECK(fstat(file, &about) == 0 && about.st_size == 1000);
	return PASSED;
}

static enum outcome test_flock_is_released(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	int other;

	CHECK(flock(file, LOCK_EX) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(close(file) == 0);
	other = open_scratch(SCRATCH_FILE, O_RDONLY);
	CHECK(flock(other, LOCK_EX | LOCK_NB) == 0);
	CHECK(has_records(other, 5));
	return PASSED;
}

static int use_anothers(void *argument)
{
	struct test_ring *ring = argument;

	if (ring_drain(ring) != -1 || errno != EPERM)
		return 1;
	/* The child's mapping has pages of its own, not the ring's. */
	if (ring->header->tail || ring->header->head || ring_append(ring, "x", 1))
		return 2;
	memset((void *)ring->header, -1, ring->shape.map_bytes);
	return ring_map(ring) == -1 && errno == EPERM ? 0 : 3;
}

static enum outcome test_child(void)
{
	struct test_ring ring;
	int file = fresh_scratch();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	CHECK(in_child(use_anothers, &ring) == 0);
	/* The child closed its descriptor of the file when it ended. */
	CHECK(!ring_is_bound(&ring) && has_records(file, 5));
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 5, 5) == 5);
	CHECK(ring_unbind(&ring) == 0 && has_records(file, 10));
	return PASSED;
}

/* The child shares the parent's descriptors, not its memory. So its end closes none of them. */
static enum outcome test_child_unmaps(void)
{
	struct test_ring ring;
	int file = fresh_scratch();
	int status;
	pid_t child;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		memset((void *)ring.header, -1, ring.shape.map_bytes);
		_exit(munmap((void *)ring.header, ring.shape.map_bytes) != 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(ring_is_bound(&ring) && append_records(&ring, 5, 5) == 5);
	CHECK(ring_unbind(&ring) == 0 && has_records(file, 10));
	return PASSED;
}

/* The program moves the tail too far ahead of the head, or behind it. */
static enum outcome refuse_tail(uint64_t nonsense)
{
	struct test_ring ring;
	int file = fresh_scratch();
	struct stat about;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	ring.header->tail += nonsense;
	CHECK_ERRNO(ring_drain(&ring), EINVAL);
	CHECK(!ring_is_bound(&ring) && ring_is_closed(&ring) && !ring_append(&ring, "x", 1));
	CHECK(fstat(file, &about) == 0 && about.st_size == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	CHECK(ring_unbind(&ring) == 0 && has_records(file, 5));
	close(file);
	close(ring.device);
	return PASSED;
}

static enum outcome test_nonsense_tail(void)
{
	CHECK(refuse_tail(1ULL << 40) == PASSED);
	CHECK(refuse_tail(KADAPT_RING_DEFAULT + 1) == PASSED);
	CHECK(refuse_tail(-1ULL) == PASSED);
	return PASSED;
}

const struct test_case ring_cases[] = {
    {"ring_file", "10,000 records through a page-sized ring", test_file},
    {"ring_reservation", "space reserved beyond the end is given back", test_reservation_returned},
    {"ring_delay", "records leave without a call", test_delay},
    {"ring_let_go", "an idle ring lets its descriptor go", test_let_go},
    {"ring_closed", "a ring that is not bound accepts nothing", test_closed},
    {"ring_interrupted", "an append that another binding came between fails", test_interrupted},
    {"ring_mark", "no more is accepted than the mark allows", test_mark},
    {"ring_hold", "plain writes between records", test_hold},
    {"ring_append_mode", "a file opened with O_APPEND", test_append_mode},
    {"ring_foreign_open", "who opens the file sees every record", test_foreign_open},
    {"ring_foreign_truncate", "who truncates the file does it after the records",
     test_foreign_truncate},
    {"ring_pages_dropped", "the program has dropped the ring's pages", test_pages_dropped},
    {"ring_phase_change", "entering another phase drains", test_phase_change},
    {"ring_policy_delay", "the phase's policy sets the delay", test_policy_delay},
    {"ring_file_size_limit", "RLIMIT_FSIZE is met by write(2)", test_file_size_limit},
    {"ring_flock", "flock(2) is released with the descriptor", test_flock_is_released},
    {"ring_child", "a child can't use its parent's ring", test_child},
    {"ring_child_unmaps", "what a child does to its own memory there", test_child_unmaps},
    {"ring_nonsense_tail", "a tail that makes no sense", test_nonsense_tail},
    {0},
};
