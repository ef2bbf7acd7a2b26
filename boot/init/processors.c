// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

/* Returns false if the kernel has no such processor, or cannot switch it. */
static bool raise_one(unsigned int number)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", number);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	if (write(file, "1", 1) != 1)
		system_log("processor %u stays off: %s", number, strerror(errno));
	close(file);
	return true;
}

/* A processor that is online stays so. Processor 0 has no such file: it cannot be switched off. */
void processors_raise(void)
{
	for (unsigned int number = 1; raise_one(number); number++)
		;
}
