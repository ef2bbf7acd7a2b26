// SPDX-License-Identifier: MIT
/* The callers of all these functions hold the lock. */
#include "kprofile.h"

#include <string.h>

static struct thread *threads, *ended;
static uint32_t thread_numbers;

struct thread *threads_first(void)
{
	return threads;
}

uint32_t threads_total(void)
{
	return thread_numbers;
}

static char *own_pointer(void)
{
	return __builtin_thread_pointer();
}

static struct thread *own_thread(void)
{
	for (struct thread *thread = threads; thread; thread = thread->next)
		if (thread->pointer == own_pointer())
			return thread;
	return NULL;
}

static void forget_entered(struct thread *thread)
{
	if (!thread->entered)
		return;
	memset(thread->entered, 0, thread->entered_capacity * sizeof(*thread->entered));
	memset(thread->touched, 0, bits_size(thread->entered_capacity));
}

/* Reuses the record of an ended thread, whose counts are all in rows. */
static struct thread *take_thread(void)
{
	struct thread *thread = ended;

	if (!thread)
		return memory_take(sizeof(*thread));
	ended = thread->next;
	if (thread->seen)
		memset(thread->seen, 0, thread->seen_capacity * sizeof(*thread->seen));
	forget_entered(thread);
	return thread;
}

void thread_begin(void)
{
	struct thread *thread = own_thread() ? NULL : take_thread();
	struct thread **last = &threads;

	if (!thread)
		return;
	thread->pointer = own_pointer();
	thread->number = ++thread_numbers;
	thread->executed = thread->executed_before = 0;
	thread->row_start = counts_executed();
	thread->row_end = interval_length();
	thread->next = NULL;
	while (*last)
		last = &(*last)->next;
	*last = thread;
}

void thread_end(void)
{
	struct thread *thread = own_thread();

	if (!thread)
		return;
	counts_look_at(thread);
	thread->pointer = NULL;
}

/* Threads that ended before the last row have no unwritten counts. */
void threads_forget_ended(void)
{
	struct thread **link = &threads;

	while (*link) {
		struct thread *thread = *link;

		if (thread->pointer) {
			link = &thread->next;
			continue;
		}
		*link = thread->next;
		thread->next = ended;
		ended = thread;
	}
}

void threads_forget_others(void)
{
	counts_look();
	for (struct thread *thread = threads; thread; thread = thread->next) {
		if (thread->pointer != own_pointer())
			thread->pointer = NULL;
		else
			thread->number = 1;
		thread->executed = thread->executed_before = thread->row_start = 0;
		thread->row_end = interval_length();
		forget_entered(thread);
	}
	threads_forget_ended();
	counts_forget();
	thread_numbers = 1;
}
