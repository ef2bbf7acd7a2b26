// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures in a guest whose clock counts instructions.
 *
 *	writes call              "call INSTRUCTIONS" of a write(2) to /dev/null
 *	writes put FILE FROM     "ms MILLISECONDS" of writing what FROM holds to FILE
 *	writes run NAME CMD...   "NAME NANOSECONDS" that a command and its children had a processor;
 *				 what the command prints is thrown away
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 9
#define CALLS 1000
#define MOST_BYTES (1 << 20)

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int opened(const char *path, int flags)
{
	int file = open(path, flags);

	if (file < 0) {
		perror(path);
		exit(1);
	}
	return file;
}

static double one_round(int file)
{
	static const char record[16];
	int64_t begin = now_ns();

	for (int i = 0; i < CALLS; i++)
		if (write(file, record, sizeof(record)) != sizeof(record))
			exit(1);
	return (double)(now_ns() - begin) / CALLS;
}

/* The least of several rounds: a timer's interrupt falls into some of them. */
static int call(void)
{
	int file = opened("/dev/null", O_WRONLY);
	double least = one_round(file);

	for (int round = 1; round < ROUNDS; round++) {
		double each = one_round(file);

		least = each < least ? each : least;
	}
	printf("call %.2f\n", least);
	return 0;
}

static int put(const char *path, const char *from)
{
	static char bytes[MOST_BYTES];
	ssize_t size = read(opened(from, O_RDONLY), bytes, sizeof(bytes)), done = 0;
	int64_t begin = now_ns();
	int file = opened(path, O_WRONLY | O_TRUNC);

	/* The function tracer takes a word at a time, and the last one at the close. */
	while (done < size) {
		ssize_t taken = write(file, bytes + done, size - done);

		if (taken <= 0) {
			perror(path);
			return 1;
		}
		done += taken;
	}
	close(file);
	printf("ms %.3f\n", (now_ns() - begin) / 1e6);
	return 0;
}

static double nanoseconds(const struct timeval *time)
{
	return time->tv_sec * 1e9 + time->tv_usec * 1e3;
}

/* The kernel knows the sum of both times exactly. */
static int run(const char *name, char **command)
{
	pid_t child = fork();
	struct rusage used;
	int status;

	if (child == 0) {
		dup2(opened("/dev/null", O_WRONLY), STDOUT_FILENO);
		execvp(*command, command);
		_exit(127);
	}
	if (wait4(child, &status, 0, &used) != child || status)
		return 1;
	printf("%s %.0f\n", name, nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime));
	return 0;
}

int main(int count, char **words)
{
	if (count == 2 && !strcmp(words[1], "call"))
		return call();
	if (count == 4 && !strcmp(words[1], "put"))
		return put(words[2], words[3]);
	if (count > 3 && !strcmp(words[1], "run"))
		return run(words[2], words + 3);
	return 2;
}
