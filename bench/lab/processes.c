// SPDX-License-Identifier: GPL-2.0-or-later
/* The creation and the end of processes, and the switch from one to another. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

/* A child that ends at once, and its parent, which waits for it. */
static int run_fork(long unused, long count)
{
	(void)unused;
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return -errno;
	}
	return 0;
}

static int there[2] = {-1, -1};
static int back[2] = {-1, -1};
static pid_t partner;

static void answer_all(void)
{
	char byte;

	close(there[1]);
	close(back[0]);
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	_exit(0);
}

static int open_pipes(long unused)
{
	(void)unused;
	if (pipe(there) || pipe(back))
		return -errno;
	partner = fork();
	if (partner == 0)
		answer_all();
	return partner < 0 ? -errno : 0;
}

/*
 * A byte's round trip through two pipes is two switches. Each side writes, which wakes the other
 * side, and then reads, which puts itself to sleep.
 */
static int run_switch(long unused, long count)
{
	char byte = 'k';

	(void)unused;
	for (long i = 0; i < count; i += 2)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return -errno;
	return 0;
}

static void close_pipes(void)
{
	for (int i = 0; i < 2; i++) {
		if (there[i] >= 0)
			close(there[i]);
		if (back[i] >= 0)
			close(back[i]);
		there[i] = -1;
		back[i] = -1;
	}
	if (partner > 0) {
		kill(partner, SIGKILL);
		waitpid(partner, NULL, 0);
	}
	partner = 0;
}

const struct operation process_operations[] = {
    {
	.name = "fork_exit",
	.unit = "ns",
	.batch = 100,
	.crossings = 3,
	.run = run_fork,
    },
    {
	.name = "context_switch",
	.unit = "ns",
	.batch = 4000,
	.crossings = 2,
	.prepare = open_pipes,
	.run = run_switch,
	.finish = close_pipes,
    },
    {0},
};
