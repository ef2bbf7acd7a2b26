// SPDX-License-Identifier: MIT
/* All with the lock held. */
#include "kprofile.h"

#include <string.h>

/* The blocks that the profile mentions, in its order. */
static uint32_t *mentioned;
static size_t mentioned_count, mentioned_capacity;
static uint64_t executed;

static bool make_room(void)
{
	size_t wanted = mentioned_capacity ? 2 * mentioned_capacity : 1024;
	uint32_t *larger;

	if (mentioned_count < mentioned_capacity)
		return true;
	larger = memory_grow(mentioned, mentioned_count * sizeof(*mentioned),
			     wanted * sizeof(*mentioned));
	if (!larger)
		return false;
	mentioned = larger;
	mentioned_capacity = wanted;
	return true;
}

static void put_text(const char *text)
{
	stream_text(text, strlen(text));
}

static void put_checksum(uint32_t checksum)
{
	static const char digits[] = "0123456789abcdef";
	char text[8];

	for (int digit = 7; digit >= 0; digit--, checksum >>= 4)
		text[digit] = digits[checksum & 15];
	stream_text(text, sizeof(text));
}

static void mention(uint32_t position)
{
	struct block *block = blocks_at(position);

	if (block->number || !make_room())
		return;
	mentioned[mentioned_count++] = position;
	block->number = (uint32_t)mentioned_count;
	stream_begin('B');
	stream_number(block->number - 1);
	stream_number(0);
	stream_number(block->instructions);
	stream_number(block->entry);
	stream_number(block->line);
	put_text(block->function);
	put_text("");
	put_text(block->file);
	put_text(block->object);
	put_checksum(block->checksum);
	stream_number(block->index + 1);
	stream_finish();
}

/* Looks at several threads' counters are not one look: what seems negative is made up for later. */
static size_t mention_all(const struct thread *thread)
{
	size_t entries = 0;

	for (uint32_t position = 0; position < thread->entered_capacity; position++)
		if (thread->entered[position] > 0) {
			mention(position);
			entries++;
		}
	return entries;
}

static uint64_t write_row(struct thread *thread, uint64_t start)
{
	const size_t entries = mention_all(thread);
	uint64_t instructions = 0, before = 0;

	if (!entries)
		return 0;
	stream_begin('R');
	stream_number(thread->number);
	stream_number(start);
	stream_number(entries);
	for (size_t number = 0; number < mentioned_count; number++) {
		const uint32_t position = mentioned[number];
		uint64_t ran;

		if (position >= thread->entered_capacity || thread->entered[position] <= 0)
			continue;
		ran = (uint64_t)thread->entered[position] * blocks_at(position)->instructions;
		stream_number(number - before);
		stream_number((uint64_t)thread->entered[position]);
		stream_number(ran);
		thread->entered[position] = 0;
		instructions += ran;
		before = number;
	}
	stream_number(0);
	stream_finish();
	return instructions;
}

void rows_write(void)
{
	const uint64_t start = executed;

	counts_look();
	for (struct thread *thread = threads_first(); thread; thread = thread->next)
		executed += write_row(thread, start);
	threads_forget_ended();
}

static void write_facts(void)
{
	stream_begin('F');
	stream_number(threads_total());
	stream_number(1);
	for (int unknown = 0; unknown < 4; unknown++)
		stream_number(0);
	stream_finish();
}

void rows_end(void)
{
	rows_write();
	write_facts();
	stream_begin('E');
	stream_finish();
}

void rows_replace(void)
{
	rows_write();
	stream_begin('X');
	stream_finish();
}

void rows_forget(void)
{
	for (size_t number = 0; number < mentioned_count; number++)
		blocks_at(mentioned[number])->number = 0;
	mentioned_count = 0;
	executed = 0;
}
