/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads, children and the ways in which a process ends; the argument chooses one. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 1000, CHILD_CALLS = 500, COMPUTED = 200000000 };
enum { LONG_SECONDS = 2 };

__attribute__((noinline)) static int step(int number)
{
	__asm__ volatile("" : "+r"(number));
	return number ^ 1;
}

__attribute__((noinline)) static void in_thread(void)
{
	for (int call = 0; call < CALLS; call++)
		step(call);
}

__attribute__((noinline)) static void in_child(void)
{
	for (int call = 0; call < CHILD_CALLS; call++)
		step(call);
}

static void *run(void *leaves)
{
	in_thread();
	if (leaves)
		pthread_exit(NULL);
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (long number = 0; number < THREADS; number++)
		pthread_create(&all[number], NULL, run, (void *)(number & 1));
	for (int number = 0; number < THREADS; number++)
		pthread_join(all[number], NULL);
}

static void child(void)
{
	int status;

	if (fork() == 0) {
		in_child();
		_exit(0);
	}
	wait(&status);
}

/* Long enough for a few intervals. */
static void compute(void)
{
	for (int call = 0; call < COMPUTED; call++)
		step(call);
}

/* Intervals are of processor time, so the run lasts a fixed processor time on any machine. */
static void compute_long(void)
{
	struct timespec used;
	long calls = 0;

	do {
		compute();
		calls += COMPUTED;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while (used.tv_sec < LONG_SECONDS);
	printf("%ld\n", calls);
}

static void handle(int number)
{
	(void)number;
	step(0);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "threads"))
		threads();
	if (!strcmp(way, "fork"))
		child();
	if (!strcmp(way, "exec"))
		execlp("true", "true", NULL);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "handler")) {
		signal(SIGUSR1, handle);
		raise(SIGUSR1);
	}
	if (!strcmp(way, "compute"))
		compute();
	if (!strcmp(way, "long"))
		compute_long();
	if (!strcmp(way, "kill")) {
		compute();
		raise(SIGKILL);
	}
	return 0;
}
