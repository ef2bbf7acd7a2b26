// SPDX-License-Identifier: MIT
/*
 * The sampler: the thread that looks at the counters. Only the kernel knows of it, so the C library
 * still regards a program with one thread as single-threaded. The sampler uses no thread-local
 * memory, takes no signals and has its own descriptors.
 *
 * A sleep until the process has used a given processor time is only as precise as the kernel's
 * tick, some milliseconds. The sampler therefore sleeps by wall-clock time: as long as the interval
 * should take at the program's recent pace. Then it looks again. It sleeps by processor time only
 * while the program itself sleeps.
 */
#include "kprofile.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

enum { STACK_BYTES = 1 << 16, KERNEL_SIGNALS = 8 };

/* In nanoseconds of wall-clock time. */
enum { SHORTEST_SLEEP = 20000, LONGEST_SLEEP = 50000000, LONGEST_UNSEEN = 1000000 };

/* A pace is processor time or instructions per nanosecond of wall-clock time, times PACE. */
enum { PACE = 1024, SLEEPS = PACE / 8 };

static const uint64_t second = 1000000000;

static void sleep_by(clockid_t clock, int flags, uint64_t nanoseconds)
{
	struct timespec wanted = {(time_t)(nanoseconds / second), (long)(nanoseconds % second)};

	call_kernel(SYS_clock_nanosleep, clock, flags, (long)&wanted, 0, 0);
}

static uint64_t wall_time(void)
{
	struct timespec now;

	call_kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0);
	return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static void wait_for_time(uint64_t wanted)
{
	static uint64_t pace = PACE;
	uint64_t elapsed = interval_elapsed();

	while (elapsed < wanted) {
		const uint64_t from = elapsed, began = wall_time();

		if (pace < SLEEPS)
			sleep_by(CLOCK_PROCESS_CPUTIME_ID, TIMER_ABSTIME,
				 interval_before() + wanted);
		else
			sleep_by(CLOCK_MONOTONIC, 0,
				 within((wanted - elapsed) * PACE / pace, SHORTEST_SLEEP,
					LONGEST_SLEEP));
		elapsed = interval_elapsed();
		pace = pace < SLEEPS ? PACE : (elapsed - from) * PACE / (wall_time() - began + 1);
	}
}

static void look_by_time(void)
{
	uint64_t elapsed = interval_elapsed();

	wait_for_time((elapsed / interval_length() + 1) * interval_length());
	lock();
	elapsed = rows_write();
	interval_fit(elapsed);
	stream_flush(true);
	unlock();
}

/* Estimates the time until the first thread reaches the end of its row. */
static uint64_t unseen(uint64_t slept)
{
	uint64_t shortest = LONGEST_UNSEEN;

	for (struct thread *thread = threads_first(); thread; thread = thread->next) {
		const uint64_t pace = (thread->executed - thread->executed_before) * PACE / slept;
		const uint64_t left = thread->row_end - thread->executed;

		thread->executed_before = thread->executed;
		if (pace && left / pace * PACE < shortest)
			shortest = left * PACE / pace;
	}
	return within(shortest - shortest / 16, SHORTEST_SLEEP, LONGEST_UNSEEN);
}

static void look_by_instructions(void)
{
	static uint64_t wanted = SHORTEST_SLEEP;
	const uint64_t began = wall_time(), elapsed = interval_elapsed();

	sleep_by(CLOCK_MONOTONIC, 0, wanted);
	if (interval_elapsed() - elapsed < wanted / 8)
		sleep_by(CLOCK_PROCESS_CPUTIME_ID, 0, LONGEST_UNSEEN);
	lock();
	rows_write_full();
	stream_flush(true);
	wanted = unseen(wall_time() - began + 1);
	unlock();
}

static int sample(void *unused)
{
	(void)unused;
	call_kernel(SYS_close_range, 0, ~0u, 0, 0, 0);
	call_kernel(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0);
	for (;;)
		if (interval_is_instructions())
			look_by_instructions();
		else
			look_by_time();
	return 0;
}

/* Valgrind ends a program that creates such a thread. Without it, the run is one interval. */
void sampler_start(void)
{
	static char *stack;
	uint64_t all = ~0ul, before;

	if (RUNNING_ON_VALGRIND)
		return;
	if (!stack)
		stack = memory_take(STACK_BYTES);
	if (!stack)
		return;
	call_kernel(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before, KERNEL_SIGNALS, 0);
	clone(sample, stack + STACK_BYTES, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_SYSVSEM,
	      NULL);
	call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, KERNEL_SIGNALS, 0);
}
