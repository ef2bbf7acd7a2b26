// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts and ends the kernel: User-Mode Linux, which is a process with many children, or QEMU with
 * a kernel in it. All of these processes must end when the relay does.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
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

/* The kernel's descriptors, as its command line names them (../um.py, ../x86_64.py). */
enum kernel_descriptor {
	KERNEL_INPUT,
	KERNEL_LOG,
	KERNEL_ERRORS,
	KERNEL_DOORBELL,
	KERNEL_MEMORY,
	KERNEL_MONITOR,
	KERNEL_DESCRIPTORS,
};

/* All sources are above the targets: see hold_standard_descriptors(). */
static bool place_descriptors(const struct ends *ends)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int sources[KERNEL_DESCRIPTORS] = {
	    nothing, ends->log, ends->log, ends->doorbell, ends->memory, ends->monitor,
	};

	for (int target = 0; target < KERNEL_DESCRIPTORS; target++)
		if (dup2(sources[target], target) < 0)
			return false;
	return true;
}

static void set_limits(void)
{
	struct rlimit none = {0, 0};
	struct rlimit files;

	/* Without this limit, a panicking UML dumps its whole memory. */
	setrlimit(RLIMIT_CORE, &none);
	/* UML holds a descriptor for each file that its programs have open, and many of its own. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/*
 * A batch system signals every process of a job, so a signal for the command also hits the kernel
 * and the processes of its programs. To survive, the kernel blocks all signals except those of
 * processor faults and those that User-Mode Linux itself uses. Its programs' processes inherit the
 * mask.
 */
static void block_signals(void)
{
	static const int needed[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,	 SIGTRAP,
				     SIGABRT, SIGALRM, SIGIO,  SIGWINCH, SIGSYS};
	sigset_t blocked;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		sigdelset(&blocked, needed[i]);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/*
 * For a guest with one processor. Each of the guest's processes under User-Mode Linux is a process
 * of the host, and the kernel waits while one of them runs. If they are spread over two processors,
 * every system call in the guest wakes the other processor: on a quiet machine 82,000 small writes
 * took 6.3 s instead of 2.7. The host's scheduler has just chosen the current processor: stay here.
 */
static void stay_on_one_processor(void)
{
	int processor = sched_getcpu();
	cpu_set_t one;

	if (processor < 0 || processor >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static noreturn void become_kernel(const struct options *options, const struct ends *ends,
				   int error_pipe, pid_t keeper)
{
	char *directory;
	int error;

	if (asprintf(&directory, "TMPDIR=%s", options->memory_directory) < 0)
		_exit(EXIT_FAILURE);
	setsid();
	umask(0); /* the guest applies the command's */
	set_limits();
	block_signals();
	if (options->processors == 1)
		stay_on_one_processor();
	/* If the heap's address is random, UML manages the gap before it, up to 1 GiB. */
	personality(ADDR_NO_RANDOMIZE);
	if (!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == keeper && place_descriptors(ends)) {
		char *const environment[] = {directory, "PATH=/usr/bin:/bin", "HOME=/", NULL};

		execve(options->kernel[0], options->kernel, environment);
	}
	error = errno;
	if (write(error_pipe, &error, sizeof(error)) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

/* The keeper's message to the relay, sent twice: when the kernel was started, and at its end. */
struct news {
	pid_t pid;
	int error;
	int status;
};

/* Kills all that is left of the kernel, its helpers and the processes of its programs. */
static void kill_all(pid_t kernel, int *status)
{
	int ended_status;
	pid_t pid;

	do {
		kill(-kernel, SIGKILL); /* the group outlives its leader */
		pid = waitpid(-1, &ended_status, __WALL);
		if (pid == kernel && (WIFEXITED(ended_status) || WIFSIGNALED(ended_status)))
			*status = ended_status;
	} while (pid > 0 || errno == EINTR);
}

/* Waits until the kernel has ended or the relay is gone. */
static void keep(pid_t kernel, int *status)
{
	sigset_t awaited;
	pid_t ended = 0;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, PARENT_DIED);
	while (ended != kernel && sigwaitinfo(&awaited, NULL) != PARENT_DIED)
		do
			ended = waitpid(-1, status, WNOHANG | __WALL);
		while (ended > 0 && ended != kernel);
}

void ends_close(const struct ends *ends)
{
	close(ends->doorbell);
	close(ends->memory);
	close(ends->monitor);
	close(ends->log);
}

/*
 * The keeper is the kernel's parent. If the kernel is killed while it makes a process, that process
 * stays alive and stopped for good. The keeper inherits and kills it. The keeper is in a session of
 * its own, so it survives a signal to the caller's whole process group.
 */
static noreturn void keeper(const struct options *options, const struct ends *ends, int news_pipe,
			    pid_t relay)
{
	struct news news = {.pid = -1};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t self = getpid();
	int error_pipe[2];
	sigset_t all;

	setsid();
	/* Only the relay may hold the command's streams, so that others see them closed. */
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		dup2(nothing, stream);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (prctl(PR_SET_PDEATHSIG, PARENT_DIED) || prctl(PR_SET_CHILD_SUBREAPER, 1) ||
	    getppid() != relay || pipe2(error_pipe, O_CLOEXEC))
		_exit(EXIT_FAILURE);
	news.pid = fork();
	if (news.pid == 0)
		become_kernel(options, ends, error_pipe[1], self);
	close(error_pipe[1]);
	/* Only the kernel may hold these, so that the relay sees when they are closed. */
	ends_close(ends);
	if (news.pid < 0)
		news.error = errno;
	else if (read(error_pipe[0], &news.error, sizeof(news.error)) != sizeof(news.error))
		news.error = 0;
	if (write(news_pipe, &news, sizeof(news)) == sizeof(news) && news.pid > 0) {
		keep(news.pid, &news.status);
		kill_all(news.pid, &news.status);
	}
	_exit(write(news_pipe, &news, sizeof(news)) < 0);
}

static bool read_news(struct kernel *kernel)
{
	struct news news;

	if (read(kernel->news, &news, sizeof(news)) != sizeof(news))
		return false;
	kernel->pid = news.pid;
	kernel->error = news.error;
	kernel->status = news.status;
	return true;
}

bool kernel_start(struct kernel *kernel, const struct options *options, const struct ends *ends)
{
	pid_t relay = getpid();
	int news[2];

	if (pipe2(news, O_CLOEXEC))
		fail("pipe");
	kernel->keeper = fork();
	if (kernel->keeper < 0)
		fail("fork");
	if (kernel->keeper == 0)
		keeper(options, ends, news[1], relay);
	close(news[1]);
	kernel->news = news[0];
	if (!read_news(kernel))
		fail("the kernel's keeper");
	return kernel->error == 0;
}

/* The keeper ends when the kernel and all its processes have. */
void kernel_reap(struct kernel *kernel)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0) {
		if (pid != kernel->keeper)
			continue;
		read_news(kernel);
		kernel->ended = true;
	}
}

void kernel_kill(struct kernel *kernel)
{
	int ignored;

	if (kernel->pid > 0 && !kernel->ended)
		kill(kernel->pid, SIGKILL);
	/* The keeper kills the rest. If it was killed itself, the relay inherits its children. */
	while (!kernel->ended && waitpid(kernel->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	if (!kernel->ended)
		read_news(kernel);
	kernel->ended = true;
	if (kernel->pid > 0)
		kill_all(kernel->pid, &ignored);
}
