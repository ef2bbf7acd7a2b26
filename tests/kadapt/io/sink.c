// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libkadapt.h"
#include "sink.h"

int sink_open(struct sink *sink)
{
	static int number;

	snprintf(sink->path, sizeof(sink->path), "/tmp/kadapt-io-%d-%d", getpid(), number++);
	sink->writer = open(sink->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	return sink->writer < 0 ? -1 : 0;
}

void sink_close(struct sink *sink)
{
	close(sink->writer);
	unlink(sink->path);
}

long sink_arrived(const struct sink *sink)
{
	struct stat status;

	return syscall(SYS_newfstatat, AT_FDCWD, sink->path, &status, 0) ? -1
									 : (long)status.st_size;
}

/*
 * How far the kernel has written. Asking for the file's size would drain its ring, so the
 * descriptor's position tells.
 */
static long written(const struct sink *sink)
{
	char name[64], text[64] = "";
	long position = -1;
	int about;

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
