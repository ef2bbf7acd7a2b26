// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two sections whose calls are known, for QEMU's plugin.
 *
 *	sections WRITES TURNS
 *
 * Section 1 writes so often. In section 2 two processes give each other the turn so often through
 * pipes. Printed is how many nanoseconds section 1 took, and the least of several rounds of the
 * same before: a timer's interrupt falls into some of them.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

#define ROUNDS 9

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t write_often(int file, int times)
{
	static const char bytes[16];
	int64_t begin = now_ns();

	/* The C library's pwrite() takes instructions of its own: since glibc 2.41 some 25. */
	for (int i = 0; i < times; i++)
		if (syscall(SYS_pwrite64, file, bytes, sizeof(bytes), 0L) != sizeof(bytes))
			exit(1);
	return now_ns() - begin;
}

static void print_writing(int times)
{
	int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);
	int64_t ns, least = INT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		ns = write_often(file, times);
		if (ns < least)
			least = ns;
	}
	KADENCE_MARK("1");
	ns = write_often(file, times);
	KADENCE_MARK("0");
	printf("ns %lld\nleast %lld\n", (long long)ns, (long long)least);
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
	KADENCE_MARK("2");
	pass_on(back[0], there[1], times);
	KADENCE_MARK("0");
	waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
	if (count < 3)
		return 1;
	print_writing(atoi(words[1]));
	take_turns(atoi(words[2]));
	return 0;
}
