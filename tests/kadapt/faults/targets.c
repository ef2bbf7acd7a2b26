// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.h"
#include "targets.h"

enum { READING_END = BINDABLE, WRITING_END, DIRECTORY, SOCKET };

static int open_file(int number)
{
	char name[32];
	struct path path;
	int file;

	snprintf(name, sizeof(name), "target-%d", number);
	path = in_directory(name);
	file = open(path.text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	unlink(path.text);
	return file;
}

int targets_open(struct targets *targets)
{
	if (pipe2(&targets->descriptors[READING_END], O_CLOEXEC | O_NONBLOCK))
		return -1;
	for (int i = 0; i < BINDABLE; i++)
		targets->descriptors[i] = open_file(i);
	targets->descriptors[DIRECTORY] =
	    open(setting.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	targets->descriptors[SOCKET] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return targets->descriptors[BINDABLE - 1] < 0 ? -1 : 0;
}

void targets_empty(const struct targets *targets)
{
	static char buffer[1 << 16];

	for (int i = 0; i < BINDABLE; i++)
		if (ftruncate(targets->descriptors[i], 0))
			return;
	while (read(targets->descriptors[READING_END], buffer, sizeof(buffer)) > 0)
		;
}
