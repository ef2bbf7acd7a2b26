// SPDX-License-Identifier: MIT
/*
 * The thread that looks at the counters. Only the kernel knows of it: the C library goes on taking
 * a program with one thread for such a one. It uses no memory of a thread's own, takes no signal
 * and has its own descriptors.
 */
#include "kprofile.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

enum { STACK_BYTES = 1 << 16, KERNEL_SIGNALS = 8 };

static const uint64_t second = 1000000000;

static uint64_t processor_time(void)
{
	struct timespec now;

	call_kernel(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&now, 0, 0, 0);
	return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t then)
{
	struct timespec wanted = {(time_t)(then / second), (long)(then % second)};

	call_kernel(SYS_clock_nanosleep, CLOCK_PROCESS_CPUTIME_ID, TIMER_ABSTIME, (long)&wanted, 0,
		    0);
}

static int sample(void *unused)
{
	uint64_t next = processor_time();

	(void)unused;
	call_kernel(SYS_close_range, 0, ~0u, 0, 0, 0);
	for (;;) {
		const uint64_t now = processor_time();

		next = next + output_interval() > now ? next + output_interval()
						      : now + output_interval();
		sleep_until(next);
		lock();
		rows_write();
		stream_flush(true);
		unlock();
	}
	return 0;
}

/* Valgrind ends a program that makes such a thread. Without it, all the run is one interval. */
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
