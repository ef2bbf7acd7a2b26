// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"
#include "sinks.h"

const char *sink_name(enum sink_kind kind)
{
	static const char *const names[] = {
	    [SINK_FILE] = "file",
	    [SINK_PIPE] = "pipe",
	    [SINK_TCP] = "TCP socket",
	    [SINK_UNIX] = "UNIX socket",
	};

	return names[kind];
}

/* The reading end first, as of a pipe. */
static int connect_ends(enum sink_kind kind, int ends[2])
{
	if (kind == SINK_PIPE)
		return pipe2(ends, O_CLOEXEC);
	if (kind == SINK_UNIX)
		return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	return connect_over_tcp(ends);
}

int sink_make(struct sink *sink, enum sink_kind kind, const char *path)
{
	int ends[2] = {-1, -1};

	if (kind != SINK_FILE && connect_ends(kind, ends))
		return -1;
	*sink =
	    (struct sink){.kind = kind, .path = path, .read_end = ends[0], .write_end = ends[1]};
	return 0;
}

int sink_begin_writing(struct sink *sink)
{
	if (sink->kind != SINK_FILE)
		return close(sink->read_end);
	sink->write_end = open(sink->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return sink->write_end < 0 ? -1 : 0;
}

void sink_begin_reading(struct sink *sink)
{
	if (sink->write_end >= 0)
		close(sink->write_end);
	sink->write_end = -1;
}

int sink_open_written(struct sink *sink)
{
	if (sink->kind == SINK_FILE)
		sink->read_end = open(sink->path, O_RDONLY | O_CLOEXEC);
	return sink->read_end < 0 ? -1 : 0;
}

void sink_close(struct sink *sink)
{
	if (sink->read_end >= 0)
		close(sink->read_end);
	if (sink->write_end >= 0)
		close(sink->write_end);
	sink->read_end = -1;
	sink->write_end = -1;
}
