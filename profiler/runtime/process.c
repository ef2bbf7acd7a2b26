// SPDX-License-Identifier: MIT
/* The process: how it begins, forks and ends. */
#include "kprofile.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

static bool begun, ended;

/* Also false in a child that shares this process's memory temporarily (vfork). */
static bool may_write(void)
{
	return begun && !ended && call_kernel(SYS_getpid, 0, 0, 0, 0, 0) == output_process() &&
	       lock();
}

static void write_what(void (*write)(void))
{
	const int error = errno;

	if (may_write()) {
		write();
		stream_flush(false);
		unlock();
	}
	errno = error;
}

static void end(void)
{
	ended = true;
	rows_end();
}

void process_ends(void)
{
	write_what(end);
}

void process_may_be_replaced(void)
{
	write_what(rows_replace);
}

static void before_fork(void)
{
	lock();
}

static void after_fork_in_parent(void)
{
	unlock();
}

/* Drops the counts so far: they are the parent's. */
static void after_fork_in_child(void)
{
	const int error = errno;

	output_forget();
	threads_forget_others();
	rows_forget();
	stream_forget();
	lock_forget();
	if (!ended)
		sampler_start();
	errno = error;
}

static void begin(void)
{
	begun = true;
	output_initialise();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void kprofile_add_units(const struct unit *first, const struct unit *last, const char *object)
{
	const int error = errno;
	bool is_first;

	if (!lock())
		return;
	is_first = !begun;
	if (is_first)
		begin();
	thread_begin();
	for (const struct unit *unit = first; unit < last; unit++)
		units_add(unit, object);
	if (is_first)
		sampler_start(); /* only now: the sampler would otherwise wait for the lock */
	unlock();
	errno = error;
}

void kprofile_remove_units(const struct unit *first, const struct unit *last)
{
	const int error = errno;

	if (lock()) {
		counts_look();
		units_remove(first, last);
		unlock();
	}
	errno = error;
}

void kprofile_finish(void)
{
	process_ends();
}
