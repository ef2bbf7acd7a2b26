/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and rows. Valgrind runs one thread at a time, so one set of counters serves all: what
 * it holds is handed to the thread that ran when another one takes over, and a row is written
 * when its thread has used up its budget.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "kbbv.h"

/* Declared as in Valgrind's pub_core_scheduler.h and pub_core_threadstate.h; of libcoregrind. */
extern Bool VG_(in_generated_code);
extern Bool VG_(is_exiting)(ThreadId id);

Long kbbv_budget;

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
	kbbv_budget = (Long)interval;
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
		threads[id]->serial = ++serials;
		threads[id]->budget = (Long)interval;
		threads[id]->granted = interval;
		threads[id]->call.number = NO_CALL;
	}
	return threads[id];
}

struct thread *threads_known(ThreadId id)
{
	return threads[id];
}

/* Threads are numbered as they are created, not as they first get to run. */
void threads_created(ThreadId parent __attribute__((unused)), ThreadId id)
{
	threads_of(id);
}

static void harvest(struct thread *thread)
{
	ULong instructions;

	if (thread->hits_capacity < counters_count()) {
		UInt capacity = 2 * counters_count();
		UInt fresh = capacity - thread->hits_capacity;

		thread->hits = VG_(realloc)("kbbv.hits", thread->hits, capacity * sizeof(ULong));
		VG_(memset)(thread->hits + thread->hits_capacity, 0, fresh * sizeof(ULong));
		thread->hits_capacity = capacity;
	}
	instructions = counters_harvest(thread->hits);
	thread->row_instructions += instructions;
	all_instructions += instructions;
}

static ULong missing_from(const struct thread *thread, UInt block)
{
	for (UInt i = 0; i < thread->missing_used; i++) {
		if (thread->missing[i].block == block)
			return thread->missing[i].instructions;
	}
	return 0;
}

static ULong block_instructions(const struct block *block, const struct thread *thread)
{
	ULong instructions = 0;

	for (UInt i = block->first_counter; i < block->first_counter + block->counters; i++)
		instructions += thread->hits[i] * counter_weight(i);
	return instructions - missing_from(thread, block->id);
}

/* Calls visit(block, ...) for the blocks of the row, or only counts them where it is NULL. */
static UInt for_each_block(const struct thread *thread, void (*visit)(const struct block *, ULong))
{
	UInt found = 0;

	for (UInt id = 0; id < blocks_count(); id++) {
		const struct block *block = blocks_at(id);
		ULong instructions;

		if (block->first_counter + block->counters > thread->hits_capacity)
			break;
		instructions = block_instructions(block, thread);
		if (instructions == 0 && thread->hits[block->first_counter] == 0)
			continue;
		found++;
		if (visit)
			visit(block, instructions);
	}
	return found;
}

static UInt previous_id;
static const struct thread *written;

static void write_block(const struct block *block, ULong instructions)
{
	stream_number(block->id - previous_id);
	stream_number(written->hits[block->first_counter]);
	stream_number(instructions);
	previous_id = block->id;
}

static void write_row(const struct thread *thread)
{
	calls_name(thread);
	stream_begin(FRAME_ROW);
	stream_number(thread->serial);
	stream_number(thread->row_start);
	stream_number(for_each_block(thread, NULL));
	previous_id = 0;
	written = thread;
	for_each_block(thread, write_block);
	calls_write(thread);
	stream_finish();
	stream_publish();
}

static void finish_row(struct thread *thread)
{
	if (stream_is_open() && (thread->row_instructions || thread->row_calls)) {
		memory_row_ends(thread->serial);
		write_row(thread);
	}
	VG_(memset)(thread->hits, 0, thread->hits_capacity * sizeof(ULong));
	thread->row_instructions = 0;
	thread->missing_used = 0;
	calls_clear(thread);
	thread->row_start = all_instructions;
}

/* A row goes on to the next multiple of what is now the interval, if it does not end at one. */
static void lengthen_row(struct thread *thread)
{
	if (thread->granted % interval == 0)
		return;
	thread->granted += interval / 2;
	if (thread == current)
		kbbv_budget += (Long)interval / 2;
	else
		thread->budget += (Long)interval / 2;
}

/*
 * The longer interval's multiples are every second one of the shorter's, so that rows of before
 * can be put together, and are then what they would have been.
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
 * Called before the block that would pass the end of the interval is counted. The budget keeps
 * what that block takes from the next interval, so that the row boundaries never drift from
 * the multiples of the interval.
 */
void threads_interval_end(void)
{
	harvest(current);
	finish_row(current);
	if (most_rows && current->granted / interval >= most_rows)
		double_interval();
	while (kbbv_budget < 0) {
		kbbv_budget += (Long)interval;
		current->granted += interval;
	}
}

ULong threads_clock(const struct thread *thread)
{
	return thread->granted - (ULong)kbbv_budget;
}

void threads_start_client_code(ThreadId id, ULong blocks_dispatched __attribute__((unused)))
{
	struct thread *thread = threads_of(id);

	if (thread == current)
		return;
	if (current) {
		harvest(current);
		current->budget = kbbv_budget;
	}
	current = thread;
	kbbv_budget = thread->budget;
	if (thread->row_instructions == 0)
		thread->row_start = all_instructions;
}

static struct missing *missing_of(struct thread *thread, UInt block)
{
	for (UInt i = 0; i < thread->missing_used; i++) {
		if (thread->missing[i].block == block)
			return &thread->missing[i];
	}
	if (thread->missing_used == thread->missing_capacity) {
		thread->missing_capacity = 2 * thread->missing_capacity + 4;
		thread->missing = VG_(realloc)("kbbv.missing", thread->missing,
					       thread->missing_capacity * sizeof(struct missing));
	}
	thread->missing[thread->missing_used] = (struct missing){block, 0};
	return &thread->missing[thread->missing_used++];
}

/*
 * Takes back what was counted of the run that the fault cuts off. Blocks that overlap have the
 * same rest, so that it does not matter for the sum in which of them it happened.
 */
static void take_back(ThreadId id)
{
	struct thread *thread = threads_of(id);
	Addr address = VG_(get_IP)(id);

	harvest(thread);
	for (UInt i = blocks_count(); i-- > 0;) {
		const struct block *block = blocks_at(i);
		UInt missing = blocks_missing_at(block, address);

		if (missing == 0 || block_instructions(block, thread) < missing)
			continue;
		missing_of(thread, block->id)->instructions += missing;
		thread->row_instructions -= missing;
		all_instructions -= missing;
		kbbv_budget += missing;
		return;
	}
}

/* A handler is about to be entered; other signals are delivered between blocks. */
void threads_deliver_signal(ThreadId id, Int number __attribute__((unused)),
			    Bool alternative_stack __attribute__((unused)))
{
	if (VG_(in_generated_code))
		take_back(id);
}

/* A thread that is told to end in the midst of its code has a fault that nobody handles. */
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
	VG_(free)(thread->hits);
	VG_(free)(thread->missing);
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
	VG_(memset)(thread->hits, 0, thread->hits_capacity * sizeof(ULong));
	thread->row_instructions = 0;
	thread->row_start = 0;
	thread->missing_used = 0;
	calls_forget(thread);
	thread->granted = interval;
	thread->call.number = NO_CALL;
}

/* What ran until now is the parent's; of its threads only the one that forked is here. */
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
	kbbv_budget = (Long)interval;
}
