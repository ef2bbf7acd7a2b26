// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls kadence-node with a time limit. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plugin.h"

#define TURN_NS 1000000L
#define KILL_TURNS 500

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

bool kadence_beside(const char *name, char path[PATH_MAX])
{
	Dl_info self;
	const char *slash;
	int length;

	if (!dladdr(&kadence_settings, &self) || !self.dli_fname)
		return false;
	slash = strrchr(self.dli_fname, '/');
	if (!slash)
		return false;
	length = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname,
			  name);
	return length > 0 && length < PATH_MAX;
}

/* Becomes the program, in a process group of its own, so that the caller can kill all of it. */
static _Noreturn void become(char *const words[], char *const environment[], int output)
{
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(nothing, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	/* If this process kept a pipe of Slurm's open, the pipe's reader would wait. */
	for (int descriptor = STDERR_FILENO + 1;
	     descriptor < sysconf(_SC_OPEN_MAX) && descriptor < 1024; descriptor++)
		close(descriptor);
	execvpe(words[0], words, environment);
	_exit(127);
}

/* Returns false if the deadline came first. Output that does not fit is dropped at the front. */
static bool read_output(int source, int64_t deadline, char output[KADENCE_OUTPUT])
{
	struct pollfd entry = {.fd = source, .events = POLLIN};
	size_t used = 0;

	for (;;) {
		int64_t left = deadline - now_ms();
		int ready = poll(&entry, 1, left < 0 ? 0 : (int)left);
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		if (used > KADENCE_OUTPUT / 2) {
			memmove(output, output + used - KADENCE_OUTPUT / 2, KADENCE_OUTPUT / 2);
			used = KADENCE_OUTPUT / 2;
		}
		got = read(source, output + used, KADENCE_OUTPUT - 1 - used);
		if (got <= 0)
			return got == 0;
		used += (size_t)got;
		output[used] = '\0';
	}
}

static void keep_last_line(char output[KADENCE_OUTPUT])
{
	size_t length = strlen(output);
	const char *line;

	while (length && output[length - 1] == '\n')
		output[--length] = '\0';
	line = strrchr(output, '\n');
	if (line)
		memmove(output, line + 1, strlen(line + 1) + 1);
}

/* A process that SIGKILL does not end, because it waits for a dead file server, is left behind. */
static bool reap(pid_t child, bool in_time)
{
	const struct timespec turn = {.tv_nsec = TURN_NS};
	int status = -1;

	if (!in_time)
		kill(-child, SIGKILL);
	for (int i = 0; i < KILL_TURNS; i++) {
		pid_t ended = waitpid(child, &status, in_time ? 0 : WNOHANG);

		if (ended == child)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		if (ended < 0 && errno != EINTR)
			return false;
		nanosleep(&turn, NULL);
	}
	return false;
}

bool kadence_run(char *const words[], char *const environment[], char output[KADENCE_OUTPUT])
{
	int64_t deadline = now_ms() + kadence_settings.seconds * INT64_C(1000);
	int ends[2];
	bool in_time;
	bool success;
	pid_t child;

	snprintf(output, KADENCE_OUTPUT, "%s could not be started", words[0]);
	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (child == 0)
		become(words, environment, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return false;
	}
	output[0] = '\0';
	in_time = read_output(ends[0], deadline, output);
	success = reap(child, in_time);
	close(ends[0]);
	keep_last_line(output);
	if (!in_time)
		snprintf(output, KADENCE_OUTPUT, "kadence: the node took longer than %d s",
			 kadence_settings.seconds);
	else if (!success && !output[0])
		snprintf(output, KADENCE_OUTPUT, "kadence: %s was killed", words[0]);
	return success;
}

bool kadence_run_tool(char *const words[], char output[KADENCE_OUTPUT])
{
	/* No variable of the user's: in prologs the tool runs as root. */
	char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};

	return kadence_run(words, environment, output);
}
