// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libkadapt.h"
#include "sink.h"

const char *const sink_names[SINK_KINDS] = {"file", "pipe", "unix", "tcp"};

static int open_file(struct sink *sink)
{
	static int number;

	snprintf(sink->path, sizeof(sink->path), "/tmp/kadapt-io-%d-%d", getpid(), number++);
	sink->reader = -1;
	sink->writer = open(sink->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	return sink->writer < 0 ? -1 : 0;
}

static int open_tcp(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int status = -1;

	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (!bind(listener, (struct sockaddr *)&address, length) && !listen(listener, 1) &&
	    !getsockname(listener, (struct sockaddr *)&address, &length) &&
	    !connect(ends[1], (struct sockaddr *)&address, length)) {
		ends[0] = accept(listener, NULL, NULL);
		status = ends[0] < 0 ? -1 : 0;
	}
	close(listener);
	return status;
}

static int open_stream(struct sink *sink)
{
	int ends[2] = {-1, -1};
	int status;

	if (sink->kind == SINK_PIPE)
		status = pipe(ends);
	else if (sink->kind == SINK_UNIX)
		status = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	else
		status = open_tcp(ends);
	sink->reader = ends[0];
	sink->writer = ends[1];
	return status;
}

int sink_open(struct sink *sink, enum sink_kind kind)
{
	*sink = (struct sink){.kind = kind};
	return kind == SINK_FILE ? open_file(sink) : open_stream(sink);
}

void sink_close(struct sink *sink)
{
	close(sink->writer);
	if (sink->reader >= 0)
		close(sink->reader);
	if (sink->kind == SINK_FILE)
		unlink(sink->path);
}

long sink_arrived(const struct sink *sink)
{
	struct stat status;
	int bytes;

	if (sink->kind == SINK_FILE)
		return syscall(SYS_newfstatat, AT_FDCWD, sink->path, &status, 0)
			   ? -1
			   : (long)status.st_size;
	return syscall(SYS_ioctl, sink->reader, FIONREAD, &bytes) ? -1 : bytes;
}

/*
 * How far the kernel has written. To ask for a file's size would empty its ring, so
 * it is told by the descriptor's position.
 */
static long written(const struct sink *sink)
{
	char name[64], text[64] = "";
	long position = -1;
	int about;

	if (sink->kind != SINK_FILE)
		return sink_arrived(sink);
	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", sink->writer);
	about = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
	if (syscall(SYS_read, about, text, sizeof(text) - 1) > 0)
		sscanf(text, "pos: %ld", &position);
	syscall(SYS_close, about);
	return position;
}

int sink_fill(struct sink *sink)
{
	for (int i = 0; i < 3; i++)
		if (kadapt_write(sink->writer, RECORD, RECORD_BYTES) != RECORD_BYTES)
			return -1;
	return written(sink) == RECORD_BYTES ? 0 : -1;
}
