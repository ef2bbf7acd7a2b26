// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two processes in phases of their own at once, which give each other the turn through pipes.
 *
 *	phases TURNS
 *
 * Each turn of phase 7 writes three times to /dev/null, each one of phase 200 reads once from
 * /dev/zero. Before and after its phase, each process changes the mode of a file descriptor once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kadapt.h"

#define BYTES 65536

static char bytes[BYTES];

static void check(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
}

static void begin(int device, int phase)
{
	struct kadapt_policy policy = {.phase = phase};

	check(fcntl(device, F_SETFL, 0), "fcntl");
	check(ioctl(device, KADAPT_DEFINE, &policy), "KADAPT_DEFINE");
	check(ioctl(device, KADAPT_ENTER, phase), "KADAPT_ENTER");
}

static void end(int device)
{
	check(ioctl(device, KADAPT_LEAVE, 0), "KADAPT_LEAVE");
	check(fcntl(device, F_SETFL, 0), "fcntl");
}

static void pass_on(int from, int to)
{
	char turn = 0;

	check(write(to, &turn, 1), "write");
	check(read(from, &turn, 1), "read");
}

static void be_reader(int turns, int from, int to)
{
	int device = open("/dev/kadapt", O_RDWR), zero = open("/dev/zero", O_RDONLY);

	begin(device, 200);
	for (int i = 0; i < turns; i++) {
		check(pread(zero, bytes, BYTES, 0), "pread");
		pass_on(from, to);
	}
	end(device);
	exit(0);
}

static void be_writer(int turns, int from, int to)
{
	int device = open("/dev/kadapt", O_RDWR), null = open("/dev/null", O_WRONLY);

	begin(device, 7);
	for (int i = 0; i < turns; i++) {
		for (int j = 0; j < 3; j++)
			check(pwrite(null, bytes, BYTES, 0), "pwrite");
		pass_on(from, to);
	}
	end(device);
}

int main(int words, char **word)
{
	int turns = words > 1 ? atoi(word[1]) : 100, there[2], back[2], status;

	/* If one of them fails, the other one waits. */
	alarm(60);
	check(pipe(there), "pipe");
	check(pipe(back), "pipe");
	if (fork() == 0)
		be_reader(turns, there[0], back[1]);
	be_writer(turns, back[0], there[1]);
	check(wait(&status), "wait");
	return status != 0;
}
