// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs of computing, of processes, threads and signals. */

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costs.h"

/* A round is a multiplication and an addition that depend on the round before. */
long charge_compute(long count)
{
	unsigned long value = (unsigned long)count;

	for (long i = 0; i < count; i++)
		__asm__ volatile("imul $3, %0, %0\n\tadd $1, %0" : "+r"(value));
	return count;
}

static void ignore(int number)
{
	(void)number;
}

/* The thread sends itself a signal, handles it, and returns from the handler. */
long charge_signal(long count)
{
	struct sigaction action = {.sa_handler = ignore};

	if (sigaction(SIGUSR1, &action, NULL))
		return -1;
	for (long i = 0; i < count; i++)
		raise(SIGUSR1);
	return count;
}

struct turns {
	_Atomic int next; /* whose turn it is: 0 or 1 */
	long rounds;
};

static void take_turns(struct turns *turns, int own)
{
	for (long i = 0; i < turns->rounds; i++) {
		while (atomic_load(&turns->next) != own)
			syscall(SYS_futex, &turns->next, FUTEX_WAIT_PRIVATE, !own, NULL, NULL, 0);
		atomic_store(&turns->next, !own);
		syscall(SYS_futex, &turns->next, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *second(void *turns)
{
	take_turns(turns, 1);
	return NULL;
}

/* Two threads wait for each other. A turn is two calls: one wakes, one waits. */
long charge_wait(long count)
{
	struct turns turns = {.rounds = (count + 3) / 4};
	pthread_t thread;

	if (pthread_create(&thread, NULL, second, &turns))
		return -1;
	take_turns(&turns, 0);
	pthread_join(thread, NULL);
	return 4 * turns.rounds;
}

static long start(long count, char *const *words)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			if (words)
				execv(words[0], words);
			_exit(words ? EXIT_FAILURE : EXIT_SUCCESS);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status)
			return -1;
	}
	return count;
}

/* From fork() to the end of the parent's waitpid(). */
long charge_fork(long count)
{
	return start(count, NULL);
}

/* fork() and execv() of this program, which is static. */
long charge_exec(long count)
{
	static char self[] = "/proc/self/exe";
	static char nothing[] = NOTHING;
	char *words[] = {self, nothing, NULL};

	return start(count, words);
}
