// SPDX-License-Identifier: GPL-2.0-or-later
/* Rings of pipes and sockets: no more goes in than there is room for. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

#define LONG_DELAY 1000000000ULL
/* After eight of them without a record the ring is let go, also where a busy machine pauses us. */
#define SOME_DELAY (20 * NS_PER_MS)

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

/* What one ring can't get rid of keeps no other from being emptied. */
static enum outcome test_phase_change_beside_full_pipe(void)
{
	static char block[65536];
	struct test_ring full, other;
	int file = fresh_scratch();
	int ends[2];

	CHECK(pipe(ends) == 0);
	CHECK(ring_open(&full, 0) == 0 && ring_make(&other, full.device, 0) == 0);
	CHECK(define(full.device, 0, 0) == 0);
	CHECK(ring_bind_with(&full, ends[1], 0, LONG_DELAY) == 0);
	CHECK(ring_bind_with(&other, file, 0, LONG_DELAY) == 0);
	CHECK(ring_append(&full, "late", 4) && append_records(&other, 0, 100) == 100);
	CHECK(write(ends[1], block, sizeof(block)) == sizeof(block));
	CHECK(enter(full.device, 0) == 0);
	CHECK(ring_pending(&full) == 4);
	CHECK(ring_pending(&other) == 0 && has_records(file, 100));
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
	CHECK(ring_bind_with(&ring, ends[1], 0, SOME_DELAY) == 0);
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
	CHECK(ring_bind_with(&ring, ends[1], 0, SOME_DELAY) == 0);
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

const struct test_case ring_stream_cases[] = {
    {"ring_pipe", "records through a pipe", test_pipe},
    {"ring_pipe_full", "a pipe without room accepts nothing", test_pipe_full},
    {"ring_pipe_full_phase", "entering a phase empties the other rings",
     test_phase_change_beside_full_pipe},
    {"ring_pipe_broken", "EPIPE and SIGPIPE of a pipe, once", test_pipe_broken},
    {"ring_socket_broken", "EPIPE and SIGPIPE of a socket, once", test_socket_broken},
    {"ring_socket", "records through a UNIX socket", test_socket},
    {"ring_socket_closed", "the peer of a closed socket sees the end", test_socket_closed},
    {"ring_socket_exit", "the peer of a killed process sees records and end", test_socket_exit},
    {"ring_exit_patience", "an exit does not wait for a peer for long", test_exit_patience},
    {0},
};
