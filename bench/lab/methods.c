// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ways to write records to a place: PLACE.METHOD.SIZE.
 *
 * In lab-adapted, `write` and `fflush` are redirected as the compiler plugin redirects them in an
 * adapted program: see redirected.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "place.h"
#include "redirected.h"
#include "submissions.h"

#define BUFFER_BYTES 65536
#define STDIO_BYTES 4096

static int result(ssize_t moved, long wanted)
{
	if (moved == wanted)
		return place_written(wanted);
	return moved < 0 ? -errno : -EIO;
}

static int run_write(long argument, long count)
{
	long size = SIZE_OF(argument);
	int error = 0;

	for (long i = 0; !error && i < count; i++)
		error = result(write(place.in, record_of(i), size), size);
	return error ? error : place_settle();
}

static int run_send(long argument, long count)
{
	long size = SIZE_OF(argument);
	int error = 0;

	for (long i = 0; !error && i < count; i++)
		error = result(send(place.in, record_of(i), size, 0), size);
	return error ? error : place_settle();
}

static void number_records(long first)
{
	for (long i = 0; i < RECORDS_PER_CALL; i++)
		record_of(first + i);
}

static int run_writev(long argument, long count)
{
	struct iovec vector[RECORDS_PER_CALL];
	long size = SIZE_OF(argument);
	int error = 0;

	for (int i = 0; i < RECORDS_PER_CALL; i++)
		vector[i] = (struct iovec){.iov_base = records[i], .iov_len = size};
	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		number_records(i);
		error = result(writev(place.in, vector, RECORDS_PER_CALL), size * RECORDS_PER_CALL);
	}
	return error ? error : place_settle();
}

static int run_sendmmsg(long argument, long count)
{
	struct iovec vector[RECORDS_PER_CALL];
	struct mmsghdr messages[RECORDS_PER_CALL] = {0};
	long size = SIZE_OF(argument);
	int error = 0;

	for (int i = 0; i < RECORDS_PER_CALL; i++) {
		vector[i] = (struct iovec){.iov_base = records[i], .iov_len = size};
		messages[i].msg_hdr = (struct msghdr){.msg_iov = &vector[i], .msg_iovlen = 1};
	}
	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		number_records(i);
		if (sendmmsg(place.in, messages, RECORDS_PER_CALL, 0) != RECORDS_PER_CALL)
			return errno ? -errno : -EIO;
		error = place_written(size * RECORDS_PER_CALL);
	}
	return error ? error : place_settle();
}

/* A buffer in the program, written when the next record does not fit. */
static int run_buffer(long argument, long count)
{
	static char buffer[BUFFER_BYTES];
	long size = SIZE_OF(argument), used = 0;
	int error = 0;

	for (long i = 0; !error && i < count; i++) {
		if (used + size > BUFFER_BYTES) {
			error = result(write(place.in, buffer, used), used);
			used = 0;
		}
		memcpy(buffer + used, record_of(i), size);
		used += size;
	}
	if (!error && used)
		error = result(write(place.in, buffer, used), used);
	return error ? error : place_settle();
}

#ifndef ADAPTED
static int64_t kadapt_batch_write(int descriptor, const char *base, uint64_t size, uint64_t stride,
				  uint64_t count, int64_t *last)
{
	for (uint64_t done = 0; done < count; done++) {
		*last = write(descriptor, base + done * stride, size);
		if (*last != (int64_t)size)
			return (int64_t)done;
	}
	return (int64_t)count;
}
#endif

/* Adapted: the batch that the compiler makes of a loop over consecutive pieces. Plain: the loop. */
static int run_batch(long argument, long count)
{
	static char pieces[RECORDS_PER_CALL * LARGEST_RECORD];
	long size = SIZE_OF(argument);
	int64_t last;
	int error = 0;

	for (long i = 0; i < RECORDS_PER_CALL; i++)
		memcpy(pieces + i * size, record_of(i), size);
	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		for (long piece = 0; piece < RECORDS_PER_CALL; piece++)
			*(uint64_t *)(pieces + piece * size) = i + piece;
		if (kadapt_batch_write(place.in, pieces, size, size, RECORDS_PER_CALL, &last) !=
		    RECORDS_PER_CALL)
			return last < 0 ? -errno : -EIO;
		error = place_written(size * RECORDS_PER_CALL);
	}
	return error ? error : place_settle();
}

static FILE *stream;

static int open_stream(long argument)
{
	static char buffer[STDIO_BYTES];
	int error = place_open(argument);
	int copy = error ? -1 : dup(place.in);

	if (error)
		return error;
	/* The stream has the place's only descriptor, as in a program that opens with fopen(). */
	if (place.in != place.out)
		close(place.in);
	else
		place.in = -1;
	stream = fdopen(copy, "w");
	if (!stream)
		return -errno;
	if (place.in < 0) {
		close(place.out);
		place.out = copy;
	}
	place.in = copy;
	return setvbuf(stream, buffer, _IOFBF, sizeof(buffer)) ? -errno : 0;
}

static int run_stdio(long argument, long count)
{
	long size = SIZE_OF(argument);
	int error = 0;

	for (long i = 0; !error && i < count; i++) {
		if (fwrite(record_of(i), size, 1, stream) != 1)
			return -errno;
		/* Flush before a burst: the other end can only read what the stream has written. */
		if (place.under_way + size >= place.burst && fflush(stream))
			return -errno;
		error = place_written(size);
	}
	if (!error && fflush(stream))
		error = -errno;
	return error ? error : place_settle();
}

static int run_flush(long argument, long count)
{
	long size = SIZE_OF(argument);
	int error = 0;

	for (long i = 0; !error && i < count; i++) {
		if (fwrite(record_of(i), size, 1, stream) != 1 || fflush(stream))
			return -errno;
		error = place_written(size);
	}
	return error ? error : place_settle();
}

static void close_stream(void)
{
	if (stream) {
		fclose(stream);
		if (place.out == place.in)
			place.out = -1;
		place.in = -1;
	}
	stream = NULL;
	place_close();
}

static int completions; /* of the zero-copy sends of a round */

static int open_zerocopy(long argument)
{
	int yes = 1;
	int error = place_open(argument);

	if (error)
		return error;
	return setsockopt(place.in, SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof(yes)) ? -errno : 0;
}

/* Waits until the kernel reports that the program may use the memory of sent records again. */
static int reap_zerocopy(int sent)
{
	while (completions < sent) {
		char control[256];
		struct msghdr message = {.msg_control = control, .msg_controllen = sizeof(control)};
		struct pollfd waiting = {.fd = place.in};
		const struct sock_extended_err *report;

		if (poll(&waiting, 1, -1) < 0 || recvmsg(place.in, &message, MSG_ERRQUEUE) < 0)
			return -errno;
		report = (void *)CMSG_DATA(CMSG_FIRSTHDR(&message));
		completions += report->ee_data - report->ee_info + 1;
	}
	return 0;
}

static int run_zerocopy(long argument, long count)
{
	long size = SIZE_OF(argument);
	int error = 0;

	completions = 0;
	for (long i = 0; !error && i < count; i++) {
		error = result(send(place.in, record_of(i), size, MSG_ZEROCOPY), size);
		if (!error && i % RECORDS_PER_CALL == RECORDS_PER_CALL - 1) {
			if (place.under_way)
				error = place_settle();
			if (!error)
				error = reap_zerocopy(i + 1);
		}
	}
	return error;
}

static int splice_pipe[2] = {-1, -1};

static int open_splice(long argument)
{
	int error = place_open(argument);

	if (error)
		return error;
	if (pipe2(splice_pipe, O_CLOEXEC) || fcntl(splice_pipe[1], F_SETPIPE_SZ, 1 << 20) < 0)
		return -errno;
	return 0;
}

static int splice_all(long bytes)
{
	while (bytes) {
		ssize_t moved = splice(splice_pipe[0], NULL, place.in, NULL, bytes, 0);

		if (moved <= 0)
			return moved ? -errno : -EIO;
		bytes -= moved;
	}
	return 0;
}

/*
 * Pages are lent to the pipe and from there to the place. The program may use them again when all
 * records are read.
 */
static int run_splice(long argument, long count)
{
	struct iovec vector[RECORDS_PER_CALL];
	long size = SIZE_OF(argument), bytes = size * RECORDS_PER_CALL;
	int error = 0;

	for (int i = 0; i < RECORDS_PER_CALL; i++)
		vector[i] = (struct iovec){.iov_base = records[i], .iov_len = size};
	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		number_records(i);
		if (vmsplice(splice_pipe[1], vector, RECORDS_PER_CALL, 0) != bytes)
			return -errno;
		error = splice_all(bytes);
		if (!error)
			error = place_written(bytes);
		if (!error)
			error = place_settle();
	}
	return error;
}

static void close_splice(void)
{
	for (int i = 0; i < 2; i++) {
		if (splice_pipe[i] >= 0)
			close(splice_pipe[i]);
		splice_pipe[i] = -1;
	}
	place_close();
}

static int open_submissions(long argument)
{
	int error = place_open(argument);

	return error ? error : submissions_open();
}

static int run_io_uring(long argument, long count)
{
	long size = SIZE_OF(argument);
	int error = 0;

	for (long i = 0; !error && i < count; i += RECORDS_PER_CALL) {
		number_records(i);
		error = submissions_write(place.in, records[0], LARGEST_RECORD, size);
		if (!error)
			error = place_written(size * RECORDS_PER_CALL);
	}
	return error ? error : place_settle();
}

static void close_submissions(void)
{
	submissions_close();
	place_close();
}

#define METHOD(place_name, kind, method, bytes, begin, end)                                        \
	{                                                                                          \
		.name = #place_name "." #method "." #bytes, .unit = "ns",                          \
		.argument = PLACED(kind, bytes), .batch = RECORDS_PER_ROUND, .prepare = begin,     \
		.rewind = place_rewind, .run = run_##method, .verify = place_verify,               \
		.finish = end,                                                                     \
	}

#define SIZES(place_name, kind, method, begin, end)                                                \
	METHOD(place_name, kind, method, 16, begin, end),                                          \
	    METHOD(place_name, kind, method, 64, begin, end),                                      \
	    METHOD(place_name, kind, method, 256, begin, end),                                     \
	    METHOD(place_name, kind, method, 1024, begin, end)

#define ANYWHERE(place_name, kind)                                                                 \
	SIZES(place_name, kind, write, place_open, place_close),                                   \
	    SIZES(place_name, kind, writev, place_open, place_close),                              \
	    SIZES(place_name, kind, io_uring, open_submissions, close_submissions),                \
	    SIZES(place_name, kind, buffer, place_open, place_close),                              \
	    SIZES(place_name, kind, batch, place_open, place_close),                               \
	    SIZES(place_name, kind, stdio, open_stream, close_stream),                             \
	    SIZES(place_name, kind, splice, open_splice, close_splice)

#define REGULAR(place_name, kind) SIZES(place_name, kind, flush, open_stream, close_stream)

#define SOCKET(place_name, kind)                                                                   \
	SIZES(place_name, kind, send, place_open, place_close),                                    \
	    SIZES(place_name, kind, sendmmsg, place_open, place_close)

const struct operation method_operations[] = {
    ANYWHERE(file, PLACE_FILE),
    ANYWHERE(ext4, PLACE_EXT4),
    ANYWHERE(pipe, PLACE_PIPE),
    ANYWHERE(tcp, PLACE_TCP),
    ANYWHERE(local, PLACE_UNIX),
    REGULAR(file, PLACE_FILE),
    REGULAR(ext4, PLACE_EXT4),
    SOCKET(tcp, PLACE_TCP),
    SOCKET(local, PLACE_UNIX),
    SIZES(tcp, PLACE_TCP, zerocopy, open_zerocopy, place_close),
    {0},
};
