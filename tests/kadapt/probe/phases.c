// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phases whose calls are known; QEMU's plugin sees each as the section of its number.
 *
 *	phases WRITES TURNS
 *
 * In phase 1 the program writes so often. In phase 2 two processes give each other the turn so
 * often through pipes. In phase 3 the program sleeps, and in phase 4 a child ends within a call.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kadapt.h"
#include "mark.h"

static int device;

static void enter(int phase)
{
	if (ioctl(device, KADAPT_ENTER, phase))
		perror("KADAPT_ENTER");
}

static void define(int phase)
{
	struct kadapt_policy policy = {.phase = phase};

	if (ioctl(device, KADAPT_DEFINE, &policy))
		perror("KADAPT_DEFINE");
}

static void write_often(int file, int times)
{
	static const char bytes[16];

	for (int i = 0; i < times; i++)
		if (pwrite(file, bytes, sizeof(bytes), 0) != sizeof(bytes))
			exit(1);
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
	enter(2);
	KADENCE_MARK("2");
	pass_on(back[0], there[1], times);
	KADENCE_MARK("0");
	ioctl(device, KADAPT_LEAVE, 0);
	waitpid(child, NULL, 0);
}

static void rest(void)
{
	struct timespec time = {.tv_nsec = 20000000};

	enter(3);
	KADENCE_MARK("3");
	nanosleep(&time, NULL);
	KADENCE_MARK("0");
}

int main(int count, char **words)
{
	int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);

	if (count != 3)
		return 2;
	device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	for (int phase = 1; phase <= 4; phase++)
		define(phase);
	write_often(file, 100);
	enter(1);
	KADENCE_MARK("1");
	write_often(file, atoi(words[1]));
	KADENCE_MARK("0");
	take_turns(atoi(words[2]));
	rest();
	enter(4);
	KADENCE_MARK("4");
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	KADENCE_MARK("0");
	return 0;
}
