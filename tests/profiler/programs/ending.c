/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs body() 1,000 times, then ends in the way that the argument names. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told;

__attribute__((noinline)) void body(void)
{
	__asm__ volatile("" ::: "memory");
}

static void note(int number)
{
	told = number;
}

static int wait_for_signal(int number)
{
	signal(number, note);
	puts("ready");
	fflush(stdout);
	while (!told)
		usleep(1000);
	return 7;
}

static int fork_two(void)
{
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			body();
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 1000; i++)
		body();
	if (!strcmp(way, "three"))
		return 3;
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "fault"))
		*(volatile int *)0 = 1;
	if (!strcmp(way, "killed"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "terminate"))
		return wait_for_signal(SIGTERM);
	if (!strcmp(way, "interrupt"))
		return wait_for_signal(SIGINT);
	if (!strcmp(way, "fork"))
		return fork_two();
	if (!strcmp(way, "exec"))
		execlp("true", "true", NULL);
	return 0;
}
