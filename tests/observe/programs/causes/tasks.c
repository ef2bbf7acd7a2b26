// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "causes.h"

extern char **environ;

static void fork_times(int times)
{
	for (int i = 0; i < times; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

void fork_often(void)
{
	fork_times(40);
}

void fork_once(void)
{
	fork_times(1);
}

static void execute(int times)
{
	char *words[] = {"busybox", "true", NULL};
	pid_t child;

	for (int i = 0; i < times; i++) {
		check(-posix_spawn(&child, "/bin/busybox", NULL, NULL, words, environ));
		waitpid(child, NULL, 0);
	}
}

void execute_often(void)
{
	execute(20);
}

void execute_once(void)
{
	execute(1);
}

static void exchange(int from, int to, size_t size, int times)
{

	for (int i = 0; i < times; i++)
		if (write(to, block, size) < 0 || read(from, into, size) < 0)
			exit(1);
}

static void by_pipes(size_t size, int times)
{
	int there[2], back[2];
	pid_t child;

	check(pipe(there) + pipe(back));
	child = fork();
	if (child == 0) {
		exchange(there[0], back[1], size, times);
		_exit(0);
	}
	exchange(back[0], there[1], size, times);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 2; i++)
		close(there[i] | close(back[i]));
}

void small_messages(void)
{
	by_pipes(1, 300);
}

void large_messages(void)
{
	by_pipes(32 << 10, 10);
}

static void by_sockets(size_t size, int times)
{
	int ends[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	for (int i = 0; i < times; i++)
		if (write(ends[0], block, size) < 0 || read(ends[1], into, size) < 0)
			exit(1);
	close(ends[0]);
	close(ends[1]);
}

void small_datagrams(void)
{
	by_sockets(16, 500);
}

void large_datagrams(void)
{
	by_sockets(32 << 10, 10);
}

static void hand_over(int times)
{
	static uint32_t word;

	for (int i = 0; i < times; i++)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void futex_often(void)
{
	hand_over(2000);
}

void futex_seldom(void)
{
	hand_over(5);
}

static void sleep_in(int times)
{
	struct timespec time = {.tv_nsec = 1000000000 / times / 20};

	for (int i = 0; i < times; i++)
		nanosleep(&time, NULL);
}

void sleep_often(void)
{
	sleep_in(100);
}

void sleep_once(void)
{
	sleep_in(1);
}

static void yield_times(int times)
{
	for (int i = 0; i < times; i++)
		sched_yield();
}

void yield_often(void)
{
	yield_times(1000);
}

void yield_once(void)
{
	yield_times(1);
}

static void on_signal(int number)
{
	(void)number;
}

void signals_handled(void)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 500; i++)
		raise(SIGUSR1);
}

void signals_read(void)
{
	struct signalfd_siginfo information;
	sigset_t set;
	int file;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	file = signalfd(-1, &set, 0);
	for (int i = 0; i < 500; i++) {
		syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
		check(read(file, &information, sizeof(information)));
	}
	close(file);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
