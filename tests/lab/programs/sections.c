// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two sections whose calls are known, for QEMU's plugin.
 *
 *	sections WRITES TURNS
 *
 * Section 1 writes so often. In section 2 two processes give each other the turn so often through
 * pipes. Printed is how many nanoseconds section 1 took.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void write_often(int times)
{
	static const char bytes[16];
	int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);
	int64_t begin;

	/* The file has its page, and the clock's page is in memory, too. */
	if (pwrite(file, bytes, sizeof(bytes), 0) != sizeof(bytes))
		exit(1);
	now_ns();
	KADENCE_LAB_MARK("1");
	begin = now_ns();
	for (int i = 0; i < times; i++)
		if (pwrite(file, bytes, sizeof(bytes), 0) != sizeof(bytes))
			exit(1);
	begin = now_ns() - begin;
	KADENCE_LAB_MARK("0");
	printf("ns %lld\n", (long long)begin);
}

static void pass_on(int from, int to, int times)
{
	char turn = 0;

	for (int i = 0; i < times; i++)
		if (write(to, &turn, 1) != 1 || read(from, &turn, 1) != 1)
			exit(1);
}

static void take_turns(int times)
{
	int there[2], back[2];
	pid_t child;

	if (pipe(there) || pipe(back))
		exit(1);
	child = fork();
	if (child == 0) {
		pass_on(there[0], back[1], times);
		exit(0);
	}
	KADENCE_LAB_MARK("2");
	pass_on(back[0], there[1], times);
	KADENCE_LAB_MARK("0");
	waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
	if (count < 3)
		return 1;
	write_often(atoi(words[1]));
	take_turns(atoi(words[2]));
	return 0;
}
