// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.h"
#include "sinks.h"
#include "targets.h"

static int open_file(void)
{
	struct path path = in_directory("target");
	int file = open(path.text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	unlink(path.text);
	return file;
}

static void never_block(int descriptor)
{
	fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

static int open_streams(struct targets *targets)
{
	static const enum sink_kind kinds[BINDABLE] = {SINK_FILE, SINK_PIPE, SINK_TCP, SINK_UNIX};

	for (int i = 1; i < BINDABLE; i++) {
		struct sink sink;

		if (sink_make(&sink, kinds[i], NULL))
			return -1;
		never_block(sink.write_end);
		never_block(sink.read_end);
		targets->descriptors[i] = sink.write_end;
		targets->other_ends[i] = sink.read_end;
	}
	return 0;
}

int targets_open(struct targets *targets)
{
	if (open_streams(targets))
		return -1;
	targets->descriptors[0] = open_file();
	targets->other_ends[0] = -1;
	targets->descriptors[BINDABLE] = targets->other_ends[1];
	targets->descriptors[BINDABLE + 1] =
	    open(setting.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	targets->descriptors[BINDABLE + 2] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return targets->descriptors[0] < 0 ? -1 : 0;
}

void targets_empty(const struct targets *targets)
{
	static char buffer[1 << 16];

	if (ftruncate(targets->descriptors[0], 0))
		return;
	for (int i = 1; i < BINDABLE; i++)
		while (read(targets->other_ends[i], buffer, sizeof(buffer)) > 0)
			;
}

void targets_close(const struct targets *targets)
{
	for (int i = 0; i < TARGETS; i++)
		close(targets->descriptors[i]);
	for (int i = 2; i < BINDABLE; i++)
		close(targets->other_ends[i]);
}
