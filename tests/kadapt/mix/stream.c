// SPDX-License-Identifier: GPL-2.0-or-later
/* One end of a pipe or of a socket; a child reads the other to its end. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mix.h"
#include "redirected.h"

static int descriptor;
static int is_socket;

static void connect_tcp(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    connect(ends[1], (struct sockaddr *)&address, length))
		abort();
	ends[0] = accept(listener, NULL, NULL);
	close(listener);
}

static void read_to_the_end(int end)
{
	static char text[BYTES_MAX];
	uint64_t sum = 0;
	ssize_t size;
	long total = 0;

	while ((size = read(end, text, sizeof(text))) > 0) {
		sum = hash(sum, text, (size_t)size);
		total += size;
	}
	tell("bytes", total);
	tell("content", (long)(sum >> 1));
}

static pid_t start(const char *kind)
{
	int ends[2];
	pid_t reader;

	is_socket = strcmp(kind, "pipe") != 0;
	if (!is_socket ? pipe(ends) : 0)
		abort();
	if (!strcmp(kind, "unix") && socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
	if (!strcmp(kind, "tcp"))
		connect_tcp(ends);
	reader = fork();
	if (reader == 0) {
		close(ends[1]);
		read_to_the_end(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	descriptor = ends[1];
	return reader;
}

static ssize_t put(const char *text, size_t size)
{
	return is_socket && any(2) ? send(descriptor, text, size, MSG_NOSIGNAL)
				   : write(descriptor, text, size);
}

static void write_one(void)
{
	uint32_t size = 1 + any(200);

	tell("write", put(bytes(size), size));
}

static void write_large(void)
{
	uint32_t size = 1 + any(BYTES_MAX - 1);

	tell("write", put(bytes(size), size));
}

static void write_burst(void)
{
	uint32_t records = any(300), size = 1 + any(64);
	long total = 0;

	while (records--)
		total += put(bytes(size), size);
	tell("burst", total);
}

static void write_pieces(void)
{
	struct iovec pieces[3];

	for (int i = 0; i < 3; i++)
		pieces[i] = (struct iovec){.iov_base = (void *)bytes(50), .iov_len = any(50)};
	tell("writev", writev(descriptor, pieces, 3));
}

static void write_in_child(void)
{
	if (fork() == 0) {
		write_burst();
		_exit(0);
	}
	wait(NULL);
}

static void duplicate(void)
{
	int copy = dup(descriptor);

	write_burst();
	tell("copy", write(copy, "copy", 4));
	write_burst();
	close(copy);
}

static void wait_until_writable(void)
{
	struct pollfd list = {.fd = descriptor, .events = POLLOUT};

	tell("poll", poll(&list, 1, -1));
}

static void print(void)
{
	FILE *stream = fdopen(dup(descriptor), "w");
	uint32_t records = any(400);

	while (records--)
		fprintf(stream, "%d %s\n", any(1000), "text");
	tell("fclose", fclose(stream));
}

static void (*const operations[])(void) = {
    write_one,	 write_one,   write_one,      write_large,  write_burst,
    write_burst, write_burst, write_burst,    write_pieces, write_pieces,
    duplicate,	 yield,	      write_in_child, print,	    wait_until_writable,
};

#define OPERATIONS ((uint32_t)(sizeof(operations) / sizeof(*operations)))

int mix_stream(const char *kind, int count)
{
	pid_t reader = start(kind);
	int status;

	while (count--)
		operations[any(OPERATIONS)]();
	status = close(descriptor);
	/* The reader prints when it meets the end. */
	waitpid(reader, NULL, 0);
	tell("close", status);
	return 0;
}
