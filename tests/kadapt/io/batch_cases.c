// SPDX-License-Identifier: GPL-2.0-or-later
/* Batches are compared with the loops that they replace. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "ends.h"
#include "libkadapt.h"
#include "sink.h"

#define BUFFER_BYTES (256 * 1024)

static unsigned char buffer[BUFFER_BYTES];

struct shape {
	uint64_t size;
	uint64_t stride;
	uint64_t count;
};

static const struct shape shapes[] = {
    {1, 1, 1},	    {1, 1, 5000},   {7, 13, 300},    {16, 16, 1000},  {100, 0, 50},
    {100, 60, 500}, {512, 512, 65}, {1000, 1000, 8}, {4096, 4096, 3}, {5000, 5000, 7},
    {65536, 0, 3},  {10, 10, 0},    {0, 4, 5},
};

#define SHAPES ((int)(sizeof(shapes) / sizeof(*shapes)))

/* The loop, as libkadapt.h defines it. */
static int64_t loop(int descriptor, const struct shape *shape, int64_t *last)
{
	for (uint64_t i = 0; i < shape->count; i++) {
		*last = write(descriptor, buffer + i * shape->stride, shape->size);
		if (*last != (int64_t)shape->size)
			return (int64_t)i;
	}
	return (int64_t)shape->count;
}

static int64_t batch(int descriptor, const struct shape *shape, int64_t *last)
{
	return kadapt_batch_write(descriptor, buffer, shape->size, shape->stride, shape->count,
				  last);
}

struct result {
	int64_t done;
	int64_t last;
	int error;
	long bytes;
	unsigned char content[2 * BUFFER_BYTES];
};

typedef int64_t (*writer)(int, const struct shape *, int64_t *);

static void prepare(void)
{
	for (int i = 0; i < BUFFER_BYTES; i++)
		buffer[i] = (unsigned char)(i * 7 + i / 251);
}

static void run(struct result *result, writer function, int descriptor, const struct shape *shape)
{
	errno = 0;
	result->last = 0;
	result->done = function(descriptor, shape, &result->last);
	result->error = errno;
	if (result->done == (int64_t)shape->count)
		result->last = 0;
}

static enum outcome same(const struct result *one, const struct result *other)
{
	if (one->done != other->done || one->last != other->last || one->error != other->error)
		note("%ld, %ld, %d by the loop; %ld, %ld, %d", (long)one->done, (long)one->last,
		     one->error, (long)other->done, (long)other->last, other->error);
	CHECK(one->done == other->done && one->last == other->last);
	CHECK(one->error == other->error && one->bytes == other->bytes);
	CHECK(!memcmp(one->content, other->content, (size_t)one->bytes));
	return PASSED;
}

static void run_on_file(struct result *result, writer function, const struct shape *shape)
{
	struct sink sink;

	sink_open(&sink);
	run(result, function, sink.writer, shape);
	result->bytes = pread(sink.writer, result->content, sizeof(result->content), 0);
	sink_close(&sink);
}

/* Writes as much as fits: nobody reads before the end. */
static void run_on_stream(struct result *result, writer function, const struct shape *shape,
			  enum ends_kind kind)
{
	ssize_t got;
	int ends[2];

	ends_open(ends, kind);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	run(result, function, ends[1], shape);
	result->bytes = 0;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	while ((got = read(ends[0], result->content + result->bytes,
			   sizeof(result->content) - (size_t)result->bytes)) > 0)
		result->bytes += got;
	close(ends[0]);
	close(ends[1]);
}

static struct result by_loop, by_batch;

static enum outcome test_files(void)
{
	prepare();
	for (int i = 0; i < SHAPES; i++) {
		run_on_file(&by_loop, loop, &shapes[i]);
		run_on_file(&by_batch, batch, &shapes[i]);
		CHECK(same(&by_loop, &by_batch) == PASSED);
	}
	return PASSED;
}

static enum outcome test_limit(void)
{
	const struct rlimit limit = {.rlim_cur = 3333, .rlim_max = RLIM_INFINITY};

	prepare();
	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	return test_files();
}

/* A pipe takes as much as from the loop. Small pieces take more of a socket's buffer. */
static enum outcome test_pipes(void)
{
	prepare();
	for (int i = 0; i < SHAPES; i++) {
		run_on_stream(&by_loop, loop, &shapes[i], ENDS_PIPE);
		run_on_stream(&by_batch, batch, &shapes[i], ENDS_PIPE);
		CHECK(same(&by_loop, &by_batch) == PASSED);
	}
	return PASSED;
}

static enum outcome test_sockets(void)
{
	static const struct shape fitting[] = {{16, 16, 100}, {7, 13, 200}, {1000, 1000, 8}};

	prepare();
	for (int i = 0; i < 3; i++)
		for (int kind = ENDS_UNIX; kind <= ENDS_TCP; kind++) {
			run_on_stream(&by_loop, loop, &fitting[i], (enum ends_kind)kind);
			run_on_stream(&by_batch, batch, &fitting[i], (enum ends_kind)kind);
			CHECK(same(&by_loop, &by_batch) == PASSED);
		}
	return PASSED;
}

/* Each piece is a datagram. */
static enum outcome test_datagrams(void)
{
	int ends[2];
	int64_t last;

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	CHECK(kadapt_batch_write(ends[1], buffer, 10, 10, 4, &last) == 4);
	CHECK(kadapt_batch_send(ends[1], buffer, 10, 20, 4, MSG_NOSIGNAL, &last) == 4);
	for (int i = 0; i < 8; i++)
		CHECK(recv(ends[0], by_loop.content, 100, MSG_DONTWAIT) == 10);
	CHECK(recv(ends[0], by_loop.content, 100, MSG_DONTWAIT) == -1);
	return PASSED;
}

static enum outcome test_errors(void)
{
	int64_t last = 0;
	int ends[2];

	CHECK(kadapt_batch_write(-1, buffer, 10, 10, 4, &last) == 0);
	CHECK(last == -1 && errno == EBADF);
	last = 0;
	CHECK(kadapt_batch_send(STDIN_FILENO, buffer, 10, 10, 4, 0, &last) == 0);
	CHECK(last == -1 && errno == ENOTSOCK);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	close(ends[0]);
	last = 0;
	CHECK(kadapt_batch_send(ends[1], buffer, 10, 10, 4, MSG_NOSIGNAL, &last) == 0);
	CHECK(last == -1 && errno == EPIPE);
	return PASSED;
}

const struct test_case batch_cases[] = {
    {"batch_files", "to a file", test_files},
    {"batch_limit", "to a file that may not become larger", test_limit},
    {"batch_pipes", "into a pipe until it is full", test_pipes},
    {"batch_sockets", "through stream sockets", test_sockets},
    {"batch_datagrams", "through a datagram socket", test_datagrams},
    {"batch_errors", "errors are the first piece's", test_errors},
    {0},
};
