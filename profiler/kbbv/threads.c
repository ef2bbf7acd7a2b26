/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and rows. Valgrind runs one thread at a time, so one set of counters serves all threads.
 * When another thread takes over, the counts are moved to the row of the thread that ran. kbbv
 * writes a row when its thread has used up its budget.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "kbbv.h"

/* As in Valgrind's pub_core_scheduler.h and pub_core_threadstate.h; libcoregrind exports them. */
extern Bool VG_(in_generated_code);
extern Bool VG_(is_exiting)(ThreadId id);

static ULong finest_interval;
static ULong most_rows;
static ULong interval;
static ULong all_instructions;	/* of all threads, as far as harvested */
static struct thread **threads; /* by ThreadId */
static struct thread *current;
static UInt serials;

void threads_initialise(ULong instructions_per_row, ULong most)
{
	interval = finest_interval = instructions_per_row;
	most_rows = most;
	threads = VG_(calloc)("kbbv.threads", VG_N_THREADS, sizeof(*threads));
}

UInt threads_ever(void)
{
	return serials;
}

struct thread *threads_of(ThreadId id)
{
	if (!threads[id]) {
		threads[id] = VG_(calloc)("kbbv.thread", 1, sizeof(struct thread));
		threads[id]->id = id;
		threads[id]->serial = ++serials;
		threads[id]->granted = interval;
		threads[id]->call.number = NO_CALL;
	}
	return threads[id];
}

struct thread *threads_known(ThreadId id)
{
	return threads[id];
}

/* Numbers threads in the order of their creation, not of their first run. */
void threads_created(ThreadId parent __attribute__((unused)), ThreadId id)
{
	threads_of(id);
}

static Long budget_of(const struct thread *thread)
{
	Long budget;

	VG_(get_shadow_regs_area)
	(thread->id, (UChar *)&budget, BUDGET_SHADOW, BUDGET_PLACE, sizeof(budget));
	return budget;
}

static void set_budget(const struct thread *thread, Long budget)
{
	VG_(set_shadow_regs_area)
	(thread->id, BUDGET_SHADOW, BUDGET_PLACE, sizeof(budget), (const UChar *)&budget);
}

static void harvest(struct thread *thread)
{
	ULong instructions = row_harvest(&thread->row);

	thread->instructions += instructions;
	all_instructions += instructions;
}

static void write_row(struct thread *thread)
{
	calls_name(thread);
	stream_begin(FRAME_ROW);
	stream_number(thread->serial);
	stream_number(thread->row.start);
	row_write_blocks(&thread->row);
	calls_write(thread);
	stream_finish();
	stream_publish();
}

static void finish_row(struct thread *thread)
{
	if (stream_is_open() && (thread->row.instructions || thread->row_calls)) {
		memory_row_ends(thread->serial);
		write_row(thread);
	}
	row_clear(&thread->row);
	calls_clear(thread);
	thread->row.start = all_instructions;
}

/* Extends the row to the next multiple of the doubled interval, unless it ends at a multiple. */
static void lengthen_row(struct thread *thread)
{
	if (thread->granted % interval == 0)
		return;
	thread->granted += interval / 2;
	if (thread->started)
		set_budget(thread, budget_of(thread) + (Long)interval / 2);
}

/*
 * Every second multiple of the shorter interval is a multiple of the longer one. The reader can
 * therefore merge earlier rows into exactly the rows that the longer interval would have given.
 */
static void double_interval(void)
{
	interval *= 2;
	stream_begin(FRAME_INTERVAL);
	stream_number(interval);
	stream_finish();
	memory_set_interval(interval);
	for (ThreadId id = 0; id < VG_N_THREADS; id++) {
		if (threads[id])
			lengthen_row(threads[id]);
	}
}

/*
 * Called when the block that would pass the end of the interval has been counted but has not run:
 * it belongs to the next row. The budget still includes what that block takes from the next
 * interval, so the ends of rows never drift from the multiples of the interval.
 */
void threads_interval_end(ULong counter)
{
	Long budget;

	*counter_place((UInt)counter) -= 1;
	harvest(current);
	*counter_place((UInt)counter) += 1;
	finish_row(current);
	if (most_rows && current->granted / interval >= most_rows)
		double_interval();
	for (budget = budget_of(current); budget < 0; budget += (Long)interval)
		current->granted += interval;
	set_budget(current, budget);
}

ULong threads_clock(const struct thread *thread)
{
	return thread->granted - (ULong)budget_of(thread);
}

void threads_start_client_code(ThreadId id, ULong blocks_dispatched __attribute__((unused)))
{
	struct thread *thread = threads_of(id);

	if (thread == current)
		return;
	if (current)
		harvest(current);
	current = thread;
	if (!thread->started)
		set_budget(thread, (Long)thread->granted);
	thread->started = True;
	if (thread->row.instructions == 0)
		thread->row.start = all_instructions;
}

/* Subtracts the counted instructions that the fault kept from completing. */
static void take_back(ThreadId id)
{
	struct thread *thread = threads_of(id);
	ULong missing;

	harvest(thread);
	missing = row_take_back(&thread->row, VG_(get_IP)(id));
	thread->instructions -= missing;
	all_instructions -= missing;
	set_budget(thread, budget_of(thread) + (Long)missing);
}

/* Called before the handler. A signal in translated code is a fault; others come between blocks. */
void threads_deliver_signal(ThreadId id, Int number __attribute__((unused)),
			    Bool alternative_stack __attribute__((unused)))
{
	if (VG_(in_generated_code))
		take_back(id);
}

/* Sets the budget again: the return restores the thread's state from before the signal. */
void threads_return_from_signal(ThreadId id, Int number __attribute__((unused)))
{
	struct thread *thread = threads_of(id);

	harvest(thread);
	set_budget(thread, (Long)(thread->granted - thread->instructions));
}

/* A thread that must exit in the middle of its code has a fault without a handler. */
void threads_stop_client_code(ThreadId id, ULong blocks_dispatched __attribute__((unused)))
{
	if (VG_(is_exiting)(id))
		take_back(id);
}

void threads_exit(ThreadId id)
{
	struct thread *thread = threads_of(id);

	memory_look(thread->serial);
	if (thread == current) {
		harvest(thread);
		current = NULL;
	}
	finish_row(thread);
	row_free(&thread->row);
	calls_forget(thread);
	VG_(free)(thread);
	threads[id] = NULL;
}

void threads_finish_rows(void)
{
	if (current) {
		harvest(current);
		memory_look(current->serial);
	}
	for (ThreadId id = 0; id < VG_N_THREADS; id++) {
		if (threads[id])
			finish_row(threads[id]);
	}
}

ULong threads_instructions(void)
{
	if (current)
		harvest(current);
	return all_instructions;
}

static void forget_row(struct thread *thread)
{
	row_clear(&thread->row);
	thread->row.start = 0;
	calls_forget(thread);
	thread->instructions = 0;
	thread->granted = interval;
	thread->call.number = NO_CALL;
	set_budget(thread, (Long)interval);
}

/* Drops the counts so far: they are the parent's. Only the thread that forked exists here. */
void threads_forked(ThreadId id)
{
	struct thread *own = threads_of(id);

	if (current)
		harvest(current);
	interval = finest_interval;
	memory_set_interval(interval);
	for (ThreadId other = 0; other < VG_N_THREADS; other++) {
		if (other != id)
			threads[other] = NULL;
	}
	forget_row(own);
	own->serial = serials = 1;
	current = own;
	all_instructions = 0;
}
