// SPDX-License-Identifier: MIT
/* The callers of all these functions hold the lock. */
#include "kprofile.h"

#include <string.h>

/* The blocks that the profile defines, in its order. */
static uint32_t *mentioned;
static size_t mentioned_count, mentioned_capacity;
static uint64_t *in_row; /* one bit for each of these blocks: set if the current row has it */
static uint64_t begun;	 /* time elapsed at the end of the last row of all threads */

static bool make_room(void)
{
	size_t wanted = mentioned_capacity ? 2 * mentioned_capacity : 1024;
	uint32_t *larger;
	uint64_t *larger_bits;

	if (mentioned_count < mentioned_capacity)
		return true;
	larger = memory_grow(mentioned, mentioned_count * sizeof(*mentioned),
			     wanted * sizeof(*mentioned));
	larger_bits = memory_grow(in_row, bits_size(mentioned_capacity), bits_size(wanted));
	if (!larger || !larger_bits)
		return false;
	mentioned = larger;
	in_row = larger_bits;
	mentioned_capacity = wanted;
	return true;
}

static void put_text(const char *text)
{
	stream_text(text, strlen(text));
}

static bool mention(uint32_t position)
{
	struct block *block = blocks_at(position);

	if (block->number)
		return true;
	if (!make_room())
		return false;
	mentioned[mentioned_count++] = position;
	block->number = (uint32_t)mentioned_count;
	stream_begin(FRAME_BLOCK);
	stream_number(block->number - 1);
	stream_number(0);
	stream_number(block->instructions);
	stream_number(block->entry);
	stream_number(block->line);
	put_text(block->function);
	put_text("");
	put_text(block->file);
	put_text(block->object);
	stream_checksum(block->checksum);
	stream_number(block->index + 1);
	stream_finish();
	return true;
}

/*
 * A count that is derived from other counts is ahead by one while its thread is between two
 * counters. It is ahead by more if the thread runs during the look. The next difference may
 * therefore be negative; later counts usually make up for it. If none follow, an earlier row has
 * too many entries (`over`).
 */
static bool is_wanted(int64_t times, uint32_t position, bool over)
{
	return over ? times < 0 && blocks_at(position)->number : times > 0 && mention(position);
}

static size_t choose_entries(struct thread *thread, bool over)
{
	const size_t words = bits_size(thread->entered_capacity) / sizeof(*thread->touched);
	size_t entries = 0;

	for (size_t word = 0; word < words; word++)
		for (uint64_t left = thread->touched[word]; left; left &= left - 1) {
			const uint32_t position = (uint32_t)(64 * word) + __builtin_ctzl(left);

			if (thread->entered[position] == 0)
				bit_clear(thread->touched, position);
			if (!is_wanted(thread->entered[position], position, over))
				continue;
			bit_set(in_row, blocks_at(position)->number - 1);
			entries++;
		}
	return entries;
}

static void put_entry(struct thread *thread, uint32_t position)
{
	const int64_t times = thread->entered[position];

	stream_number((uint64_t)(times < 0 ? -times : times));
	if (times > 0)
		stream_number((uint64_t)times * blocks_at(position)->instructions);
	thread->entered[position] = 0;
	bit_clear(thread->touched, position);
}

static void put_entries(struct thread *thread, size_t entries)
{
	const size_t words = bits_size(mentioned_count) / sizeof(*in_row);
	size_t before = 0;

	stream_number(entries);
	for (size_t word = 0; word < words; in_row[word++] = 0)
		for (uint64_t left = in_row[word]; left; left &= left - 1) {
			const size_t number = 64 * word + __builtin_ctzl(left);

			stream_number(number - before);
			put_entry(thread, mentioned[number]);
			before = number;
		}
}

static void put_row(struct thread *thread, size_t entries)
{
	stream_begin(FRAME_ROW);
	stream_number(thread->number);
	stream_number(thread->row_start);
	put_entries(thread, entries);
	stream_number(0);
	stream_finish();
}

static void take_back(struct thread *thread)
{
	const size_t entries = choose_entries(thread, true);

	if (!entries)
		return;
	stream_begin(FRAME_OVER);
	stream_number(thread->number);
	put_entries(thread, entries);
	stream_finish();
}

static void write_row(struct thread *thread)
{
	const size_t entries = choose_entries(thread, false);

	if (entries)
		put_row(thread, entries);
	if (!thread->pointer)
		take_back(thread);
	thread->row_start = counts_executed();
}

static void put_time(void)
{
	stream_begin(FRAME_ELAPSED);
	stream_number(begun);
	stream_finish();
}

uint64_t rows_write(void)
{
	if (!interval_is_instructions())
		put_time();
	begun = interval_elapsed();
	counts_look();
	for (struct thread *thread = threads_first(); thread; thread = thread->next)
		write_row(thread);
	threads_forget_ended();
	return begun;
}

/* The next row ends at the next multiple of the interval, so delays do not add up. */
void rows_write_full(void)
{
	const uint64_t length = interval_length();

	counts_look();
	for (struct thread *thread = threads_first(); thread; thread = thread->next) {
		if (thread->executed < thread->row_end && thread->pointer)
			continue;
		write_row(thread);
		thread->row_end = (thread->executed / length + 1) * length;
	}
	threads_forget_ended();
}

static void write_facts(void)
{
	stream_begin(FRAME_FACTS);
	stream_number(threads_total());
	stream_number(1);
	for (int unknown = 0; unknown < 4; unknown++)
		stream_number(0);
	stream_finish();
}

/* Writes the last rows of all threads. */
static void write_last(void)
{
	rows_write();
	for (struct thread *thread = threads_first(); thread; thread = thread->next)
		take_back(thread);
	counts_write_layout();
}

void rows_end(void)
{
	write_last();
	write_facts();
	stream_begin(FRAME_END);
	stream_finish();
}

void rows_replace(void)
{
	write_last();
	stream_begin(FRAME_EXEC);
	stream_finish();
}

void rows_forget(void)
{
	for (size_t number = 0; number < mentioned_count; number++)
		blocks_at(mentioned[number])->number = 0;
	mentioned_count = 0;
	begun = 0;
}
