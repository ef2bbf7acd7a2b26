// SPDX-License-Identifier: GPL-2.0-or-later
/* A batch has the effect of a loop of writes that ends at the first incomplete write. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"

#define PIECES 1000

static char buffer[PIECES * 64];

static void fill_buffer(void)
{
	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (char)(i * 7 + i / 64);
}

static int batch(struct kadapt_batch *request, int descriptor, uint64_t size, uint64_t stride)
{
	int device = open_device();

	*request = (struct kadapt_batch){
	    .descriptor = descriptor,
	    .base = (uintptr_t)buffer,
	    .size = size,
	    .stride = stride,
	    .count = PIECES,
	};
	return ioctl(device, KADAPT_BATCH, request);
}

/* Returns whether the file holds what a loop of writes would have left. */
static bool holds_pieces(int file, size_t size, size_t stride)
{
	char piece[64];

	for (size_t i = 0; i < PIECES; i++) {
		if (pread(file, piece, size, (off_t)(i * size)) != (ssize_t)size)
			return false;
		if (memcmp(piece, buffer + i * stride, size))
			return false;
	}
	return pread(file, piece, 1, (off_t)(PIECES * size)) == 0;
}

static enum outcome batch_to_file(uint64_t size, uint64_t stride)
{
	int file = memfd_create("batch", 0);
	struct kadapt_batch request;

	fill_buffer();
	CHECK(batch(&request, file, size, stride) == 0);
	CHECK(request.done == PIECES && request.part == 0 && request.error == 0);
	CHECK(holds_pieces(file, size, stride));
	CHECK(lseek(file, 0, SEEK_CUR) == (off_t)(PIECES * size));
	return PASSED;
}

static enum outcome test_contiguous(void)
{
	return batch_to_file(64, 64);
}

static enum outcome test_strided(void)
{
	return batch_to_file(16, 64);
}

static enum outcome test_overlapping(void)
{
	return batch_to_file(64, 8);
}

static enum outcome test_same_piece(void)
{
	return batch_to_file(64, 0);
}

/* 10.5 pieces fit into the limit. */
static enum outcome test_limit(void)
{
	struct rlimit limit = {64 * 10 + 32, RLIM_INFINITY};
	int file = memfd_create("batch", 0);
	struct kadapt_batch request;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(batch(&request, file, 64, 64) == 0);
	CHECK(request.done == 10 && request.part == 32 && request.error == 0);
	return PASSED;
}

/* Exactly ten fit: the eleventh fails outright. */
static enum outcome test_limit_between(void)
{
	struct rlimit limit = {64 * 10, RLIM_INFINITY};
	int file = memfd_create("batch", 0);
	struct kadapt_batch request;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(batch(&request, file, 64, 64) == 0);
	CHECK(request.done == 10 && request.part == 0 && request.error == EFBIG);
	return PASSED;
}

static enum outcome test_pipe_full(void)
{
	struct kadapt_batch request;
	int ends[2];

	CHECK(pipe2(ends, O_NONBLOCK) == 0);
	CHECK(fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
	CHECK(batch(&request, ends[1], 64, 64) == 0);
	CHECK(request.done == 64 && request.part == 0 && request.error == EAGAIN);
	return PASSED;
}

/* Each piece is a message of its own. */
static enum outcome test_datagrams(void)
{
	struct kadapt_batch request;
	char message[64];
	int ends[2], more = 1 << 20;

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) == 0);
	CHECK(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &more, sizeof(more)) == 0);
	fill_buffer();
	CHECK(batch(&request, ends[1], 32, 32) == 0);
	CHECK(request.done > 1 && request.part == 0);
	for (uint64_t i = 0; i < request.done; i++) {
		CHECK(read(ends[0], message, sizeof(message)) == 32);
		CHECK(!memcmp(message, buffer + i * 32, 32));
	}
	CHECK_ERRNO(read(ends[0], message, sizeof(message)), EAGAIN);
	return PASSED;
}

static int sigpipes;

static void count_sigpipe(int signal)
{
	(void)signal;
	sigpipes++;
}

static enum outcome test_broken(void)
{
	struct kadapt_batch request = {.flags = KADAPT_BATCH_NOSIGNAL};
	int ends[2];

	signal(SIGPIPE, count_sigpipe);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	close(ends[0]);
	CHECK_ERRNO(batch(&request, ends[1], 64, 64), EPIPE);
	CHECK(sigpipes == 1);
	request.flags = KADAPT_BATCH_NOSIGNAL;
	CHECK_ERRNO(ioctl(open_device(), KADAPT_BATCH, &request), EPIPE);
	CHECK(sigpipes == 1);
	return PASSED;
}

/* The second half of the memory is not mapped. */
static enum outcome test_bad_memory(void)
{
	int file = memfd_create("batch", 0);
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kadapt_batch request = {
	    .descriptor = file,
	    .base = (uintptr_t)memory,
	    .size = 64,
	    .stride = 64,
	    .count = 128,
	};

	CHECK(munmap(memory + 4096, 4096) == 0);
	CHECK(ioctl(open_device(), KADAPT_BATCH, &request) == 0);
	CHECK(request.done == 64 && request.part == 0 && request.error == EFAULT);
	return PASSED;
}

/* The pieces before the end are sent, as a loop would send them. */
static enum outcome test_bad_memory_sent(void)
{
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kadapt_batch request = {
	    .base = (uintptr_t)memory,
	    .size = 60,
	    .stride = 60,
	    .count = 128,
	};
	char received[8192];
	int ends[2];

	CHECK(munmap(memory + 4096, 4096) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	request.descriptor = ends[1];
	CHECK(ioctl(open_device(), KADAPT_BATCH, &request) == 0);
	CHECK(request.done == 68 && request.part == 0 && request.error == EFAULT);
	CHECK(read(ends[0], received, sizeof(received)) == 68 * 60);
	return PASSED;
}

/* A UNIX socket takes a small piece as a whole, or not at all. */
static enum outcome test_socket_full(void)
{
	struct kadapt_batch request;
	uint64_t received = 0;
	char some[4096];
	int ends[2], least = 4096;
	ssize_t length;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
	CHECK(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)) == 0);
	CHECK(batch(&request, ends[1], 48, 48) == 0);
	CHECK(request.done > 0 && request.part == 0 && request.error == EAGAIN);
	while ((length = read(ends[0], some, sizeof(some))) > 0)
		received += (uint64_t)length;
	CHECK(received == request.done * 48);
	return PASSED;
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
	(void)number;
	alarms++;
}

/* So many pieces that the batch never ends by itself. */
static struct kadapt_batch endless_batch(void)
{
	return (struct kadapt_batch){
	    .descriptor = open("/dev/null", O_WRONLY),
	    .base = (uintptr_t)buffer,
	    .size = 1,
	    .stride = 0,
	    .count = UINT64_C(1) << 63,
	};
}

/* As in a loop, the handler runs. The call then returns how many pieces were written. */
static enum outcome test_signal(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 50000}};
	struct kadapt_batch request = endless_batch();

	signal(SIGALRM, count_alarm);
	CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	CHECK(ioctl(open_device(), KADAPT_BATCH, &request) == 0);
	CHECK(alarms == 1);
	CHECK(request.done > 0 && request.part == 0 && request.error == 0);
	return PASSED;
}

static enum outcome test_kill(void)
{
	struct kadapt_batch request = endless_batch();
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		ioctl(open_device(), KADAPT_BATCH, &request);
		_exit(0);
	}
	usleep(50000);
	CHECK(kill(child, SIGKILL) == 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return PASSED;
}

const struct test_case batch_cases[] = {
    {"batch_contiguous", "pieces side by side", test_contiguous},
    {"batch_strided", "pieces with gaps between them", test_strided},
    {"batch_overlapping", "pieces that overlap", test_overlapping},
    {"batch_same", "the same piece again and again", test_same_piece},
    {"batch_limit", "a piece that is written in part", test_limit},
    {"batch_limit_between", "a piece that is not written at all", test_limit_between},
    {"batch_pipe_full", "a pipe that is full", test_pipe_full},
    {"batch_datagrams", "a datagram for each piece", test_datagrams},
    {"batch_broken", "EPIPE, with and without SIGPIPE", test_broken},
    {"batch_bad_memory", "memory that ends", test_bad_memory},
    {"batch_bad_memory_sent", "memory that ends, to a socket", test_bad_memory_sent},
    {"batch_socket_full", "a socket that is full", test_socket_full},
    {"batch_signal", "a signal between two of very many pieces", test_signal},
    {"batch_kill", "a process that is killed in the midst of very many", test_kill},
    {0},
};
