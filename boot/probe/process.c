// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of processes and of the facilities that they need at start. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

/* In a small guest: relay, keeper, the kernel's helpers, init, a shell and its programs. */
#define PROCESSES 12

/* The guest's kernel opens the memory shared with the relay by its descriptor's name in /proc. */
struct answer check_proc(const struct question *question)
{
	int memory = memfd_create("probe", MFD_CLOEXEC);
	char path[64];

	(void)question;
	if (memory < 0)
		return failed("memfd_create");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	if (open(path, O_RDWR | O_CLOEXEC) < 0)
		return failed("opening a descriptor in /proc");
	return fine(0);
}

static void end_all(const pid_t *children, int count)
{
	for (int i = 0; i < count; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

/* The children share descriptors with their parent, as the processes of User-Mode Linux do. */
struct answer check_processes(const struct question *question)
{
	pid_t children[PROCESSES];
	struct answer answer;

	(void)question;
	for (int count = 0; count < PROCESSES; count++) {
		children[count] =
		    (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
		if (children[count] == 0)
			for (;;)
				pause();
		if (children[count] < 0) {
			answer = failed("clone");
			answer.value = count;
			end_all(children, count);
			return answer;
		}
	}
	end_all(children, PROCESSES);
	return fine(PROCESSES);
}

/* For User-Mode Linux's clock. */
struct answer check_timer(const struct question *question)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec hour = {.it_value.tv_sec = 3600};
	timer_t timer;

	(void)question;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return failed("timer_create");
	if (timer_settime(timer, 0, &hour, NULL))
		return failed("timer_settime");
	return fine(0);
}

/* Runs in guests, too. */
struct answer check_processors(const struct question *question)
{
	(void)question;
	return fine(sysconf(_SC_NPROCESSORS_ONLN));
}
