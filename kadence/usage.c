// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * usage: runs a command and says what it took.
 *
 *	usage DESCRIPTOR COMMAND [ARGUMENT...]
 *
 * The peak of a process's resident memory begins as that of the memory it was executed from, and an
 * interpreter with its libraries has more than many a program ever needs. So the interpreter
 * executes this, which is small and starts the command as a child.
 *
 * DESCRIPTOR gets one line. It is "failed ERRNO" if the command could not be executed, else "ended"
 * and numbers of the command with all descendants that were waited for. These are:
 *
 * - the wait status, and nanoseconds of wall time;
 * - microseconds in user and in system mode;
 * - voluntary and involuntary switches, minor and major page faults;
 * - the peak of the resident memory in KiB, and the delay.
 *
 * The delay is the nanoseconds for which the command's first thread was ready to run, but had no
 * processor. It is 0 if the kernel does not count it.
 *
 * SIGTERM kills the command, and so does the death of the caller: a command that ran on would
 * disturb whoever measures next.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_USAGE = 2, FIRST_WORD = 2, MOST_BYTES = 128 };

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t microseconds(struct timeval time)
{
	return time.tv_sec * INT64_C(1000000) + time.tv_usec;
}

/* Returns an errno, 0 for none. The command gets the signal mask that this program was given. */
static int start(char **words, const sigset_t *mask, pid_t *command)
{
	posix_spawnattr_t attributes;
	int error = posix_spawnattr_init(&attributes);

	if (error)
		return error;
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawnp(command, words[0], NULL, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	return error;
}

/* Waits for the command's end, and leaves the zombie, of which /proc still tells. */
static void wait_for(pid_t command, const sigset_t *awaited)
{
	siginfo_t ended = {.si_pid = 0};

	while (waitid(P_PID, (id_t)command, &ended, WEXITED | WNOHANG | WNOWAIT) ||
	       ended.si_pid != command)
		if (sigwaitinfo(awaited, NULL) == SIGTERM)
			kill(command, SIGKILL);
}

/* The second number of /proc/PID/schedstat (proc(5)). */
static int64_t delay_ns(pid_t command)
{
	char text[MOST_BYTES];
	int64_t ran, delayed;
	FILE *file;
	int found;

	snprintf(text, sizeof(text), "/proc/%d/schedstat", command);
	file = fopen(text, "re");
	if (!file)
		return 0;
	found = fscanf(file, "%" SCNd64 " %" SCNd64, &ran, &delayed);
	fclose(file);
	return found == 2 ? delayed : 0;
}

/* What began at `began`. */
static void tell(int report, pid_t command, int64_t began)
{
	int64_t wall_ns = now_ns() - began;
	int64_t delayed_ns = delay_ns(command);
	struct rusage used;
	int status = 0;

	waitpid(command, &status, 0);
	getrusage(RUSAGE_CHILDREN, &used);
	dprintf(report, "ended %d %jd %jd %jd %ld %ld %ld %ld %ld %jd\n", status, (intmax_t)wall_ns,
		(intmax_t)microseconds(used.ru_utime), (intmax_t)microseconds(used.ru_stime),
		used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, used.ru_majflt, used.ru_maxrss,
		(intmax_t)delayed_ns);
}

/* The number that the whole text is; -1 for any other text. */
static int number_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return end == text || *end || number < 0 || number > INT_MAX ? -1 : (int)number;
}

int main(int argc, char **argv)
{
	int report = argc > FIRST_WORD ? number_of(argv[1]) : -1;
	sigset_t awaited, mask;
	pid_t command;
	int64_t began;
	int error;

	if (report <= STDERR_FILENO || fcntl(report, F_SETFD, FD_CLOEXEC)) {
		fputs("usage: usage DESCRIPTOR COMMAND [ARGUMENT...]\n", stderr);
		return STATUS_USAGE;
	}
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGTERM);
	sigprocmask(SIG_BLOCK, &awaited, &mask);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	began = now_ns();
	error = start(argv + FIRST_WORD, &mask, &command);
	if (error) {
		dprintf(report, "failed %d\n", error);
		return EXIT_SUCCESS;
	}
	wait_for(command, &awaited);
	tell(report, command, began);
	return EXIT_SUCCESS;
}
