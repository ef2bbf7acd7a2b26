// SPDX-License-Identifier: GPL-2.0-or-later
/* The User-Mode Linux kernel: a process with many children, all of which must go with it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay.h"

/* The kernel's descriptors, as its command line names them. */
enum kernel_descriptor {
	KERNEL_INPUT,
	KERNEL_LOG,
	KERNEL_ERRORS,
	KERNEL_DOORBELL,
	KERNEL_MEMORY,
	KERNEL_DESCRIPTORS,
};

#define FIXED_ARGUMENTS 16

struct command_line {
	char *arguments[FIXED_ARGUMENTS + KERNEL_ARGUMENTS];
	int count;
};

static void add(struct command_line *line, const char *format, const char *value)
{
	if (asprintf(&line->arguments[line->count++], format, value) < 0)
		fail("asprintf");
}

/*
 * uml_dir: UML keeps a directory for its management console, which nobody uses here and which
 * a killed kernel would leave behind. One in which nothing can be made makes it do without.
 */
static void compose(struct command_line *line, const struct options *options)
{
	add(line, "%s", options->image);
	add(line, "mem=%s", options->memory);
	add(line, "%s", "root=/dev/root");
	add(line, "%s", "rootfstype=hostfs");
	add(line, "%s", "rootflags=/");
	add(line, "%s", "rw");
	add(line, "init=\"%s\"", options->init);
	add(line, "%s", "con=null");
	add(line, "%s", "con0=fd:1");
	add(line, "%s", "ssl=null");
	add(line, "%s", "ssl0=fd:3");
	add(line, "%s", "console=tty0");
	add(line, "%s", "iomem=mmapper,/proc/self/fd/4");
	add(line, "%s", "uml_dir=/proc/self/ns/");
	for (int i = 0; i < options->kernel_argument_count; i++)
		add(line, "%s", options->kernel_arguments[i]);
	line->arguments[line->count] = NULL;
}

/* All sources are above the targets: see hold_standard_descriptors(). */
static bool place_descriptors(int doorbell, int memory, int log)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int sources[KERNEL_DESCRIPTORS] = {nothing, log, log, doorbell, memory};

	for (int target = 0; target < KERNEL_DESCRIPTORS; target++)
		if (dup2(sources[target], target) < 0)
			return false;
	return true;
}

static void set_limits(void)
{
	struct rlimit none = {0, 0};
	struct rlimit files;

	/* A panicking UML dumps its whole memory. */
	setrlimit(RLIMIT_CORE, &none);
	/* It holds a descriptor for every file that its programs have open, and many of its own. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void default_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static noreturn void become_kernel(const struct options *options, int doorbell, int memory, int log,
				   int error_pipe, pid_t relay)
{
	struct command_line line = {.count = 0};
	char *directory;
	int error;

	compose(&line, options);
	if (asprintf(&directory, "TMPDIR=%s", options->memory_directory) < 0)
		_exit(EXIT_FAILURE);
	setsid();
	umask(0); /* the guest applies the command's */
	set_limits();
	default_signals();
	/* With a random heap UML counts the gap before it, up to 1 GiB, as memory to be managed. */
	personality(ADDR_NO_RANDOMIZE);
	if (!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == relay &&
	    place_descriptors(doorbell, memory, log)) {
		char *const environment[] = {directory, "PATH=/usr/bin:/bin", "HOME=/", NULL};

		execve(options->image, line.arguments, environment);
	}
	error = errno;
	if (write(error_pipe, &error, sizeof(error)) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

bool kernel_start(struct kernel *kernel, const struct options *options, int doorbell, int memory,
		  int log)
{
	pid_t relay = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		fail("pipe");
	kernel->pid = fork();
	if (kernel->pid < 0)
		fail("fork");
	if (kernel->pid == 0)
		become_kernel(options, doorbell, memory, log, ends[1], relay);
	close(ends[1]);
	if (read(ends[0], &kernel->error, sizeof(kernel->error)) != sizeof(kernel->error))
		kernel->error = 0;
	close(ends[0]);
	return kernel->error == 0;
}

/* The relay is the reaper of the kernel's helpers as well. */
void kernel_reap(struct kernel *kernel)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid != kernel->pid)
			continue;
		kernel->status = status;
		kernel->ended = true;
	}
}

void kernel_kill(struct kernel *kernel)
{
	int status;
	pid_t pid;

	/* The group outlives its leader. */
	kill(-kernel->pid, SIGKILL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || (pid < 0 && errno == EINTR)) {
		if (pid != kernel->pid)
			continue;
		kernel->status = status;
		kernel->ended = true;
	}
}
