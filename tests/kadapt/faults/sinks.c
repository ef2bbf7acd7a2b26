// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <unistd.h>

#include "sinks.h"

struct sink sink_at(const char *path)
{
	return (struct sink){.path = path, .write_end = -1, .read_end = -1};
}

int sink_begin_writing(struct sink *sink)
{
	sink->write_end = open(sink->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return sink->write_end < 0 ? -1 : 0;
}

int sink_open_written(struct sink *sink)
{
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
