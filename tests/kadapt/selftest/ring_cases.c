// SPDX-License-Identifier: GPL-2.0-or-later
/* Rings: what goes in comes out, once, in order, in time, whatever ends it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

#define FILE_NAME "ring.out"
#define LONG_DELAY 1000000000ULL

static int fresh_file(void)
{
	return open_scratch(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC);
}

/* Is the file's content this many records "0\n", "1\n" ...? */
static int has_records(int file, int count)
{
	static char expected[1 << 20], found[1 << 20];
	size_t length = 0;

	for (int i = 0; i < count; i++)
		length += (size_t)sprintf(expected + length, "%d\n", i);
	if (pread(file, found, sizeof(found), 0) != (ssize_t)length)
		return 0;
	return !memcmp(expected, found, length);
}

/* Append records, draining where the ring asks for it; how many went in. */
static int append_records(struct test_ring *ring, int first, int count)
{
	for (int i = 0; i < count; i++) {
		char record[32];
		size_t length = (size_t)sprintf(record, "%d\n", first + i);

		if (ring_append(ring, record, length))
			continue;
		if (ring_drain(ring, KADAPT_DRAIN_WAIT) || !ring_append(ring, record, length))
			return i;
	}
	return count;
}

static enum outcome test_file(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(ring_is_bound(&ring));
	CHECK(ring.header->state & KADAPT_RING_RESERVED);
	CHECK(append_records(&ring, 0, 10000) == 10000);
	CHECK(ring_drain(&ring, 0) == 0);
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
	int file = fresh_file();
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
	int file = fresh_file();
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
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 0, 3) == 3);
	for (int i = 0; i < 1000 && ring_is_bound(&ring); i++)
		sleep_for(NS_PER_MS);
	CHECK(!ring_is_bound(&ring) && ring.header->limit == 0);
	CHECK(has_records(file, 3));
	/* And again, where it ended. */
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 3, 3) == 3);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(file, 6));
	return PASSED;
}

static enum outcome test_pending_is_taken_along(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	memcpy(ring.data, "0\n1\n", 4);
	ring.tail = 4;
	ring.header->tail = 4;
	CHECK_ERRNO(ring_drain(&ring, 0), ENOLINK);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(ring_drain(&ring, 0) == 0);
	CHECK(has_records(file, 2));
	return PASSED;
}

static enum outcome test_mark(void)
{
	struct test_ring ring;
	struct kadapt_binding binding = {.descriptor = fresh_file(), .mark_bytes = 100};

	CHECK(ring_open(&ring, 0) == 0);
	binding.ring = ring.shape.number;
	CHECK(ioctl(ring.device, KADAPT_BIND, &binding) == 0);
	CHECK(ring.header->limit == 100);
	CHECK(binding.delay_ns == KADAPT_FILE_DELAY_NS);
	return PASSED;
}

static enum outcome test_hold(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 2) == 2);
	CHECK(ring_drain(&ring, KADAPT_DRAIN_HOLD) == 0);
	CHECK(ring_is_bound(&ring) && !ring_append(&ring, "x", 1));
	CHECK(write(file, "2\n", 2) == 2);
	CHECK(ring_drain(&ring, 0) == 0);
	CHECK(append_records(&ring, 3, 2) == 2);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(file, 5));
	return PASSED;
}

static enum outcome test_at(void)
{
	struct test_ring ring;
	struct kadapt_binding binding = {
	    .descriptor = fresh_file(),
	    .flags = KADAPT_BIND_AT,
	    .offset = 2,
	};

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(pwrite(binding.descriptor, "0\n", 2, 0) == 2);
	binding.ring = ring.shape.number;
	CHECK(ioctl(ring.device, KADAPT_BIND, &binding) == 0);
	CHECK(append_records(&ring, 1, 5) == 5);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(binding.descriptor, 6));
	CHECK(lseek(binding.descriptor, 0, SEEK_CUR) == 0);
	return PASSED;
}

static enum outcome test_append_mode(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(write(file, "0\n", 2) == 2);
	close(file);
	file = open_scratch(FILE_NAME, O_RDWR | O_APPEND);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 1, 5) == 5);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(has_records(file, 6));
	return PASSED;
}

/* The reader opens the file anew: that breaks the lease. */
static enum outcome test_foreign_open(void)
{
	struct test_ring ring;
	int file = fresh_file();
	int reader;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(ring_pending(&ring) > 0);
	reader = open_scratch(FILE_NAME, O_RDONLY);
	CHECK(reader >= 0);
	CHECK(has_records(reader, 100));
	CHECK(!ring_is_bound(&ring));
	CHECK_ERRNO(ring_bind(&ring, file), ENOLCK);
	close(reader);
	CHECK(ring_bind(&ring, file) == 0);
	return PASSED;
}

static enum outcome test_foreign_truncate(void)
{
	struct test_ring ring;
	int file = fresh_file();
	char path[256];
	struct stat about;

	snprintf(path, sizeof(path), "%s/%s", scratch_folder(), FILE_NAME);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(truncate(path, 4) == 0);
	CHECK(fstat(file, &about) == 0 && about.st_size == 4);
	CHECK(!ring_is_bound(&ring));
	CHECK(has_records(file, 2));
	return PASSED;
}

static int write_and_die(void *how)
{
	struct test_ring ring;
	int file = open_scratch(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC);

	if (ring_open(&ring, 0) || ring_bind_with(&ring, file, 0, LONG_DELAY) ||
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

/* The records are there when wait(2) returns. */
static enum outcome dies_by(char how)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(write_and_die(&how));
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 2);
	CHECK(has_records(open_scratch(FILE_NAME, O_RDONLY), 1000));
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
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(close(ring.device) == 0);
	CHECK(has_records(file, 100));
	CHECK(ring.header->limit == 0);
	return PASSED;
}

static enum outcome test_unmap(void)
{
	struct test_ring ring;
	int file = fresh_file();
	void *memory;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	memory = (void *)ring.header;
	/* In part it can't be unmapped, nor moved. */
	CHECK_ERRNO(munmap(memory, 4096), EINVAL);
	CHECK(mremap(memory, ring.shape.map_bytes, ring.shape.map_bytes,
		     MREMAP_MAYMOVE | MREMAP_FIXED, (char *)memory + (1 << 30)) == MAP_FAILED);
	CHECK(munmap(memory, ring.shape.map_bytes) == 0);
	for (int i = 0; i < 1000 && !has_records(file, 100); i++)
		sleep_for(NS_PER_MS);
	CHECK(has_records(file, 100));
	CHECK_ERRNO(ring_drain(&ring, 0), ENOENT);
	return PASSED;
}

/* The mapping is whole, but its pages are not in it any more. */
static enum outcome test_pages_dropped(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 3000) == 3000);
	CHECK(madvise(ring.data, 2 * (size_t)ring.shape.bytes, MADV_DONTNEED) == 0);
	CHECK(ring_drain(&ring, 0) == 0);
	CHECK(has_records(file, 3000));
	return PASSED;
}

static enum outcome test_phase_change(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(define(ring.device, 0, 0) == 0 && define(ring.device, 1, 0) == 0);
	CHECK(enter(ring.device, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 100) == 100);
	CHECK(enter(ring.device, 1) == 0);
	CHECK(ring_pending(&ring) == 0 && has_records(file, 100));
	return PASSED;
}

static enum outcome test_policy_delay(void)
{
	int device = open_device();
	struct kadapt_policy policy = {.file_delay_ns = 30 * NS_PER_MS};
	struct kadapt_ring shape = {0};
	struct kadapt_binding binding = {.descriptor = fresh_file()};

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
	int file = fresh_file();
	struct stat about;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(ring_bind(&ring, file) == 0);
	/* No byte is accepted that write(2) would refuse. */
	CHECK(ring.header->limit == 1000);
	while (ring_append(&ring, "0123456789abcdef", 16))
		;
	CHECK(ring_drain(&ring, KADAPT_DRAIN_HOLD) == 0);
	CHECK(write(file, "0123456789abcdef", 16) == 8);
	CHECK_ERRNO(write(file, "x", 1), EFBIG);
	CHECK(fstat(file, &about) == 0 && about.st_size == 1000);
	return PASSED;
}

static enum outcome test_pipe(void)
{
	struct test_ring ring;
	char found[100];
	int ends[2];

	CHECK(pipe(ends) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, ends[1], 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 10) == 10);
	CHECK(ring_drain(&ring, 0) == 0);
	CHECK(read(ends[0], found, sizeof(found)) == 20);
	CHECK(!memcmp(found, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", 20));
	/* No more is accepted than the pipe has room for: 16 pages. */
	CHECK(ring.header->limit - ring.header->head <= 65536);
	return PASSED;
}

static enum outcome test_pipe_full(void)
{
	static char block[65536];
	struct test_ring ring;
	int ends[2];

	CHECK(pipe(ends) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(write(ends[1], block, sizeof(block)) == sizeof(block));
	CHECK(ring_bind_with(&ring, ends[1], 0, LONG_DELAY) == 0);
	CHECK(!ring_append(&ring, "x", 1));
	CHECK(read(ends[0], block, 4096) == 4096);
	CHECK(ring_drain(&ring, 0) == 0);
	CHECK(ring_append(&ring, block, 4096));
	CHECK(!ring_append(&ring, "x", 1));
	return PASSED;
}

static int sigpipes;

static void count_sigpipe(int signal)
{
	(void)signal;
	sigpipes++;
}

static enum outcome broken_stream(int end, int peer)
{
	struct test_ring ring;

	signal(SIGPIPE, count_sigpipe);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, end, 0, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, "lost", 4));
	close(peer);
	CHECK_ERRNO(ring_drain(&ring, 0), EPIPE);
	CHECK(sigpipes == 1);
	CHECK(ring.header->dropped == 4 && ring.header->error_offset == 0);
	CHECK(!ring_is_bound(&ring));
	/* It is given once. */
	CHECK(ring_drain(&ring, 0) == 0);
	CHECK(sigpipes == 1);
	return PASSED;
}

static enum outcome test_pipe_broken(void)
{
	int ends[2];

	CHECK(pipe(ends) == 0);
	return broken_stream(ends[1], ends[0]);
}

static enum outcome test_socket_broken(void)
{
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	return broken_stream(ends[1], ends[0]);
}

static enum outcome test_socket(void)
{
	struct test_ring ring;
	char found[100];
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, ends[1]) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	/* The delay ends the wait. */
	CHECK(recv(ends[0], found, 10, MSG_WAITALL) == 10);
	CHECK(!memcmp(found, "0\n1\n2\n3\n4\n", 10));
	return PASSED;
}

/* The descriptor is closed without a word to the driver: the peer sees the end. */
static enum outcome test_socket_closed(void)
{
	struct test_ring ring;
	char found[100];
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, ends[1]) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	CHECK(close(ends[1]) == 0);
	CHECK(recv(ends[0], found, sizeof(found), MSG_WAITALL) == 10);
	CHECK(recv(ends[0], found, sizeof(found), 0) == 0);
	return PASSED;
}

static enum outcome test_socket_exit(void)
{
	int ends[2];
	char found[100];
	pid_t child;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	child = fork();
	if (child == 0) {
		struct test_ring ring;

		close(ends[0]);
		if (ring_open(&ring, 0) || ring_bind_with(&ring, ends[1], 0, LONG_DELAY) ||
		    append_records(&ring, 0, 5) != 5)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(recv(ends[0], found, sizeof(found), MSG_DONTWAIT) == 10);
	CHECK(recv(ends[0], found, sizeof(found), MSG_DONTWAIT) == 0);
	return PASSED;
}

/* In a child, whose parent has not closed its descriptor yet. */
static int bind_when_alone(const struct test_ring *ring, int descriptor)
{
	for (int i = 0; i < 1000; i++) {
		int error = ring_bind_with(ring, descriptor, 0, LONG_DELAY);

		if (!error || errno != ENOTUNIQ)
			return error;
		sleep_for(NS_PER_MS);
	}
	return -1;
}

/* A peer that does not read: accepted while it had room, then others took it. */
static enum outcome test_exit_patience(void)
{
	static char block[1 << 20];
	int ends[2];
	pid_t child;
	int64_t start, waited;

	CHECK(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		struct test_ring ring;

		close(ends[0]);
		if (ring_open(&ring, 0) || bind_when_alone(&ring, ends[1]) ||
		    append_records(&ring, 0, 5) != 5)
			_exit(1);
		/* Behind the ring's back the pipe is filled. */
		if (write(ends[1], block, 65536) != 65536)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	start = now();
	CHECK(waitpid(child, NULL, 0) == child);
	waited = now() - start;
	note("the exit took %lld ms", (long long)waited / NS_PER_MS);
	CHECK(waited < 2 * NS_PER_S);
	/* There is still time for it to be delivered. */
	for (size_t got = 0; got < 65536;)
		got += (size_t)read(ends[0], block, 65536 - got);
	CHECK(read(ends[0], block, sizeof(block)) == 10);
	CHECK(!memcmp(block, "0\n1\n2\n3\n4\n", 10));
	CHECK(read(ends[0], block, sizeof(block)) == 0);
	return PASSED;
}

static enum outcome test_flock_is_released(void)
{
	struct test_ring ring;
	int file = fresh_file();
	int other;

	CHECK(flock(file, LOCK_EX) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(close(file) == 0);
	other = open_scratch(FILE_NAME, O_RDONLY);
	CHECK(flock(other, LOCK_EX | LOCK_NB) == 0);
	CHECK(has_records(other, 5));
	return PASSED;
}

static int use_anothers(void *argument)
{
	struct test_ring *ring = argument;

	if (ring_drain(ring, 0) != -1 || errno != EPERM)
		return 1;
	return ring_map(ring) == -1 && errno == EPERM ? 0 : 2;
}

static enum outcome test_child(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	CHECK(append_records(&ring, 0, 5) == 5);
	CHECK(in_child(use_anothers, &ring) == 0);
	/* The child's end changed nothing. */
	CHECK(ring_is_bound(&ring) && ring_pending(&ring) == 10);
	/* Not even madvise() gives the mapping to a child. */
	CHECK_ERRNO(madvise((void *)ring.header, ring.shape.map_bytes, MADV_DOFORK), EINVAL);
	return PASSED;
}

static enum outcome test_nonsense_tail(void)
{
	struct test_ring ring;
	int file = fresh_file();
	struct stat about;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_with(&ring, file, 0, LONG_DELAY) == 0);
	ring.header->tail = 1ULL << 40;
	CHECK_ERRNO(ring_drain(&ring, 0), EINVAL);
	CHECK(!ring_is_bound(&ring) && ring.header->head == 1ULL << 40);
	CHECK(fstat(file, &about) == 0 && about.st_size == 0);
	return PASSED;
}

const struct test_case ring_cases[] = {
    {"ring_file", "10,000 records through a page-sized ring", test_file},
    {"ring_reservation", "space reserved beyond the end is given back", test_reservation_returned},
    {"ring_delay", "records leave without a call", test_delay},
    {"ring_let_go", "an idle ring lets its descriptor go", test_let_go},
    {"ring_taken_along", "what an unbound ring holds goes with the next binding",
     test_pending_is_taken_along},
    {"ring_mark", "no more is accepted than the mark allows", test_mark},
    {"ring_hold", "plain writes between records", test_hold},
    {"ring_at", "at an offset, the position left alone", test_at},
    {"ring_append_mode", "a file opened with O_APPEND", test_append_mode},
    {"ring_foreign_open", "who opens the file sees every record", test_foreign_open},
    {"ring_foreign_truncate", "who truncates the file does it after the records",
     test_foreign_truncate},
    {"ring_exit", "records of a process that ended", test_exit},
    {"ring_kill", "records of a process that was killed", test_kill},
    {"ring_abort", "records of a process that aborted", test_abort},
    {"ring_exec", "records of a process that executed another program", test_exec},
    {"ring_close_device", "closing the device drains", test_close_device},
    {"ring_unmap", "unmapping the ring drains and ends it", test_unmap},
    {"ring_pages_dropped", "the program has dropped the ring's pages", test_pages_dropped},
    {"ring_phase_change", "entering another phase drains", test_phase_change},
    {"ring_policy_delay", "the phase's policy sets the delay", test_policy_delay},
    {"ring_file_size_limit", "RLIMIT_FSIZE is met by write(2)", test_file_size_limit},
    {"ring_pipe", "records through a pipe", test_pipe},
    {"ring_pipe_full", "a pipe without room accepts nothing", test_pipe_full},
    {"ring_pipe_broken", "EPIPE and SIGPIPE of a pipe, once", test_pipe_broken},
    {"ring_socket_broken", "EPIPE and SIGPIPE of a socket, once", test_socket_broken},
    {"ring_socket", "records through a UNIX socket", test_socket},
    {"ring_socket_closed", "the peer of a closed socket sees the end", test_socket_closed},
    {"ring_socket_exit", "the peer of a killed process sees records and end", test_socket_exit},
    {"ring_exit_patience", "an exit does not wait for a peer for long", test_exit_patience},
    {"ring_flock", "flock(2) is released with the descriptor", test_flock_is_released},
    {"ring_child", "a child can't use its parent's ring", test_child},
    {"ring_nonsense_tail", "a tail that makes no sense", test_nonsense_tail},
    {0},
};
