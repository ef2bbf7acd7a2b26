// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libkadapt.h"
#include "numbers.h"

const char *numbers_path(void)
{
	static char path[64];

	if (!*path)
		snprintf(path, sizeof(path), "/tmp/kadapt-numbers-%d", getpid());
	return path;
}

int numbers_open(int count)
{
	static uint64_t numbers[NUMBERS];
	size_t size = (size_t)count * NUMBER_BYTES;
	int file;

	/* Another file each time: the one before may be open still. */
	unlink(numbers_path());
	file = open(numbers_path(), O_WRONLY | O_CREAT | O_EXCL, 0600);
	for (int i = 0; i < count; i++)
		numbers[i] = (uint64_t)i;
	if (file < 0 || write(file, numbers, size) != (ssize_t)size || close(file))
		return -1;
	return open(numbers_path(), O_RDONLY);
}

int numbers_read(int file, int first, int end)
{
	uint64_t number;

	for (int i = first; i < end; i++)
		if (kadapt_read(file, &number, sizeof(number)) != NUMBER_BYTES ||
		    number != (uint64_t)i)
			return i - first;
	return end - first;
}

long kernels_position(int file)
{
	return syscall(SYS_lseek, file, 0, SEEK_CUR);
}

int child_did(pid_t child)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
