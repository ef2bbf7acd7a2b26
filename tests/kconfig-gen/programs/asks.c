// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * asks HOW CALL...: makes system calls by their numbers, with senseless arguments and without the
 * C library's functions for them. HOW says which process or thread makes them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **numbers;

static void *make_calls(void *unused)
{
	for (char **number = numbers; *number; number++)
		syscall(strtol(*number, NULL, 10), 0L, 0L, 0L, 0L, 0L, 0L);
	return unused;
}

static int wait_for(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, make_calls, NULL))
		return EXIT_FAILURE;
	return pthread_join(thread, NULL);
}

/* The child executes this program anew; the parent waits in the same memory (vfork). */
static int in_executed(char **words)
{
	pid_t child = vfork();

	if (child == 0) {
		execv("/proc/self/exe", words);
		_exit(EXIT_FAILURE);
	}
	return wait_for(child);
}

/* A grandchild for which no process waits; it writes to a pipe when it is done. */
static int in_orphan(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return EXIT_FAILURE;
	if (fork() == 0) {
		if (fork() == 0) {
			make_calls(NULL);
			_exit(write(ends[1], "", 1) != 1);
		}
		_exit(EXIT_SUCCESS);
	}
	return read(ends[0], &byte, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return EXIT_FAILURE;
	numbers = argv + 2;
	if (!strcmp(argv[1], "thread"))
		return in_thread();
	if (!strcmp(argv[1], "orphan"))
		return in_orphan();
	if (!strcmp(argv[1], "executed")) {
		argv[1] = "direct";
		return in_executed(argv);
	}
	make_calls(NULL);
	return EXIT_SUCCESS;
}
