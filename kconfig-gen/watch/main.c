// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch: runs a command and reports what the command and all its descendants ask of a kernel.
 *
 *	watch REPORT CALLS FILES COMMAND [ARGUMENT...]
 *
 * CALLS are numbers of system calls, FILES patterns of names below /dev, /proc and /sys. Commas
 * separate the items of each list. REPORT gets a line for each item that was seen: "call NUMBER"
 * and "file PATTERN". It also gets "family NUMBER" for every socket family and "mount TYPE" for
 * every file system type that was seen. If the kernel offers no notification, REPORT gets "unseen
 * ERRNO" and the command runs unwatched. The exit status is the command's.
 *
 * The kernel's user notification (seccomp_unotify(2)) stops a process only at the selected calls.
 * It covers processes and threads however they are made. It needs no tracing, so a debugger among
 * the processes works, and it changes no signal and no parent.
 *
 * Not seen: calls of 32-bit programs, requests through an io_uring, calls that a process makes
 * after the command has ended, and options of sockets and calls. A program that listens to the
 * calls of its own children gets EBUSY, because a process has one listener. A program that uses
 * seccomp's strict mode gets EINVAL, because it already has a filter.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch.h"

enum { REPORT = 1, CALL_LIST, FILE_LIST, COMMAND };
enum { STATUS_USAGE = 2, STATUS_CANNOT = 126, STATUS_UNKNOWN = 127, SIGNALLED = 128 };

static struct findings findings;

static void want_calls(char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		long call = strtol(word, NULL, 10);

		if (call >= 0 && call < CALLS)
			findings.wanted[call] = true;
	}
}

static void want_files(char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
		if (findings.pattern_count < PATTERNS)
			findings.patterns[findings.pattern_count++] = word;
}

static void execute(char **words)
{
	execvp(words[0], words);
	perror(words[0]);
	_exit(errno == ENOENT ? STATUS_UNKNOWN : STATUS_CANNOT);
}

/*
 * Runs in the command's process. It shares the descriptors of the watcher until the listener is
 * among them. It writes the listener's number to `teller`, or a negative errno if there is none.
 */
static void become_command(int teller, pid_t watcher, char **words)
{
	int listener;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != watcher)
		_exit(SIGNALLED + SIGKILL);
	listener = install_filter(&findings);
	if (listener < 0)
		listener = -errno;
	if (write(teller, &listener, sizeof(listener)) != sizeof(listener) || unshare(CLONE_FILES))
		_exit(STATUS_CANNOT);
	execute(words);
}

static pid_t start(char **words, int *listener)
{
	pid_t watcher = getpid(), command;
	int told[2];

	if (pipe2(told, O_CLOEXEC))
		return -1;
	command = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (command == 0)
		become_command(told[1], watcher, words);
	if (command > 0 && read(told[0], listener, sizeof(*listener)) != sizeof(*listener))
		*listener = -EPIPE;
	return command;
}

static void report(FILE *to, int listener)
{
	if (listener < 0)
		fprintf(to, "unseen %d\n", -listener);
	for (int call = 0; call < CALLS; call++)
		if (findings.made[call])
			fprintf(to, "call %d\n", call);
	for (int family = 0; family < FAMILIES; family++)
		if (findings.families[family])
			fprintf(to, "family %d\n", family);
	for (size_t i = 0; i < findings.pattern_count; i++)
		if (findings.opened[i])
			fprintf(to, "file %s\n", findings.patterns[i]);
	for (size_t i = 0; i < findings.file_system_count; i++)
		fprintf(to, "mount %s\n", findings.file_systems[i]);
}

static int wait_unwatched(pid_t command)
{
	int status = 0;

	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Processes that the command left running still need answers; a forked child gives them. */
static void leave_rest(int listener)
{
	if (listener < 0 || fork() != 0)
		return;
	setsid();
	serve_rest(listener, &findings);
	_exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	FILE *to = argc > COMMAND ? fopen(argv[REPORT], "we") : NULL;
	int listener, status;
	pid_t command;

	if (!to) {
		fputs("usage: watch REPORT CALLS FILES COMMAND [ARGUMENT...]\n", stderr);
		return STATUS_USAGE;
	}
	want_calls(argv[CALL_LIST]);
	want_files(argv[FILE_LIST]);
	/* The terminal's signals are for the command; the watcher must outlive it. */
	command = start(argv + COMMAND, &listener);
	if (command < 0) {
		perror("watch");
		return STATUS_CANNOT;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	status = listener < 0 ? wait_unwatched(command) : serve(listener, command, &findings);
	report(to, listener);
	if (fclose(to))
		return STATUS_CANNOT;
	leave_rest(listener);
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}
