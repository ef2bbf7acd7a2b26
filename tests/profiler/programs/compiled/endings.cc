// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that end in every possible way, while rows end all the time. What each thread executes
 * is fixed by construction, except waiting for one another, which is in UNCOUNTED functions.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNCOUNTED __attribute__((noinline, no_profile_instrument_function))

static const long ROUNDS = 2000000, SIGNALS = 300;

static sem_t never, ready;
static volatile int handled;
static volatile long sink;

/* Many paths, so that many counts are derived from others; some paths are never taken. */
static __attribute__((noinline)) long mixed(long from, long to)
{
	long value = 1;

	for (long at = from; at < to; at++) {
		if (at % 3 == 0)
			value += at;
		else if (at % 5 == 0)
			value ^= at << 3;
		else if (at < 0)
			value--;
		switch (at & 7) {
		case 1:
			value *= 3;
			break;
		case 2:
		case 6:
			if (value & 1)
				value >>= 1;
			break;
		case 9:
			value = 0;
			break;
		default:
			value += 7;
		}
	}
	return value;
}

/* The paths marked as likely have derived counts, and are never taken. */
static __attribute__((noinline)) long surprises(long from, long to)
{
	unsigned long value = 1;

	for (long at = from; at < to; at++) {
		value = value * 6364136223846793005 + 1442695040888963407;
		value ^= value / (value % 1000 + 3);
		if (__builtin_expect(at < 0, 1))
			value = value % 3 ? value / 3 : value + 1;
		else
			value += value / (value % 999 + 7);
		if (__builtin_expect(at > from + 100 * ROUNDS, 1)) {
			value++;
			if (at < -10)
				value--;
		}
	}
	return (long)value;
}

static void work(long part)
{
	for (long at = 0; at < ROUNDS; at += ROUNDS / 4)
		sink = sink + mixed(at + part, at + part + ROUNDS / 4) +
		       surprises(at + part, at + part + ROUNDS / 40);
}

static void *returns(void *)
{
	work(1);
	return nullptr;
}

static void exits_below(long depth)
{
	work(2);
	if (depth > 0)
		exits_below(depth - 1);
	if (sink != depth)
		pthread_exit(nullptr);
	work(3);
}

static void *exits(void *)
{
	exits_below(2);
	return nullptr;
}

static void *is_cancelled(void *)
{
	work(4);
	sem_post(&ready);
	sem_wait(&never);
	work(5);
	return nullptr;
}

static __attribute__((noinline)) long may_throw(long at)
{
	if (at % 7 == 0)
		throw at;
	return mixed(at, at + 20);
}

static void *catches(void *)
{
	long sum = 0;

	for (long at = 0; at < ROUNDS / 200; at++)
		try {
			sum += may_throw(at);
		} catch (long thrown) {
			sum -= thrown;
		}
	sink = sum;
	return nullptr;
}

static __attribute__((noinline)) void jumps(jmp_buf &back, long at)
{
	sink = mixed(at, at + 30) ^ surprises(at, at + 30);
	if (at % 3)
		longjmp(back, 1);
}

static void leaps(long at)
{
	jmp_buf back;

	if (setjmp(back) == 0)
		jumps(back, at);
	else
		sink = mixed(at, at + 5);
}

static void *leaps_often(void *)
{
	for (long at = 0; at < ROUNDS / 400; at++)
		leaps(at);
	return nullptr;
}

/* Runs at any moment, between any two counters. */
static void on_signal(int)
{
	handled = handled + (int)(mixed(handled, handled + 40) != 0 || handled >= 0);
}

static pthread_barrier_t all_sent;

static void *is_signalled(void *)
{
	sem_post(&ready);
	work(6);
	pthread_barrier_wait(&all_sent);
	return nullptr;
}

static UNCOUNTED void send_signals(pthread_t to)
{
	for (int sent = 1; sent <= SIGNALS; sent++) {
		pthread_kill(to, SIGUSR1);
		while (handled < sent)
			sched_yield();
	}
	pthread_barrier_wait(&all_sent);
}

static UNCOUNTED void wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) != child)
		;
	if (status)
		abort();
}

static void *forks(void *)
{
	work(7);
	const pid_t child = fork();

	if (child == 0) {
		work(8);
		exit(0);
	}
	wait_for(child);
	work(9);
	return nullptr;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, nullptr, function, nullptr))
		abort();
	return thread;
}

int main()
{
	void *(*const quiet[])(void *) = {returns, exits, catches, leaps_often, returns, exits};
	pthread_t threads[sizeof(quiet) / sizeof(*quiet)];
	int count = 0;

	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_barrier_init(&all_sent, nullptr, 2);
	signal(SIGUSR1, on_signal);
	for (auto function : quiet)
		threads[count++] = start(function);
	const pthread_t cancelled = start(is_cancelled);
	sem_wait(&ready);
	pthread_cancel(cancelled);
	const pthread_t signalled = start(is_signalled);
	sem_wait(&ready);
	send_signals(signalled);
	pthread_join(cancelled, nullptr);
	pthread_join(signalled, nullptr);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	pthread_join(start(forks), nullptr);
	printf("%d\n", handled);
	return 0;
}
