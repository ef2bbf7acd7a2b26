/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row: what a thread ran since its last row ended. Rows are short, and most of a program's many
 * blocks do not run in a given row. A row therefore lists the counters that have hits, so that its
 * cost depends only on what ran in it.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

static void make_room(struct row *row)
{
	UInt capacity = 2 * counters_count();

	if (row->capacity >= counters_count())
		return;
	row->touched = VG_(realloc)("kbbv.touched", row->touched, capacity * sizeof(UInt));
	row->hits = VG_(realloc)("kbbv.hits", row->hits, capacity * sizeof(ULong));
	VG_(memset)(row->hits + row->capacity, 0, (capacity - row->capacity) * sizeof(ULong));
	row->capacity = capacity;
}

ULong row_harvest(struct row *row)
{
	UInt before = row->touched_used;
	ULong instructions;

	make_room(row);
	instructions = counters_harvest(row);
	row->instructions += instructions;
	if (before == 0)
		row->sorted = True;
	else if (row->touched_used > before)
		row->sorted = False;
	return instructions;
}

static Int by_number(const void *one, const void *other)
{
	const UInt a = *(const UInt *)one, b = *(const UInt *)other;

	return a < b ? -1 : a > b;
}

/* A block's counters are consecutive, so sorting brings them together. */
static void sort(struct row *row)
{
	if (!row->sorted)
		VG_(ssort)(row->touched, row->touched_used, sizeof(UInt), by_number);
	row->sorted = True;
}

static ULong missing_from(const struct row *row, UInt block)
{
	for (UInt i = 0; i < row->missing_used; i++) {
		if (row->missing[i].block == block)
			return row->missing[i].instructions;
	}
	return 0;
}

static ULong block_instructions(const struct row *row, const struct block *block)
{
	ULong instructions = 0;

	if (block->first_counter + block->counters > row->capacity)
		return 0;
	for (UInt i = block->first_counter; i < block->first_counter + block->counters; i++)
		instructions += row->hits[i] * counter_weight(i);
	return instructions - missing_from(row, block->id);
}

/* Calls visit(block, ...) for each block of the row, or only counts them if `visit` is NULL. */
static UInt for_each_block(const struct row *row, void (*visit)(const struct block *, ULong, ULong))
{
	const struct block *block = NULL;
	UInt found = 0;

	for (UInt i = 0; i < row->touched_used; i++) {
		ULong instructions, entries;

		if (block && counter_block(row->touched[i]) == block->id)
			continue;
		block = blocks_at(counter_block(row->touched[i]));
		instructions = block_instructions(row, block);
		entries = row->hits[block->first_counter];
		if (instructions == 0 && entries == 0)
			continue;
		found++;
		if (visit)
			visit(block, entries, instructions);
	}
	return found;
}

static UInt previous_id;

static void write_block(const struct block *block, ULong entries, ULong instructions)
{
	stream_number(block->id - previous_id);
	stream_number(entries);
	stream_number(instructions);
	previous_id = block->id;
}

void row_write_blocks(struct row *row)
{
	sort(row);
	stream_number(for_each_block(row, NULL));
	previous_id = 0;
	for_each_block(row, write_block);
}

static struct missing *missing_of(struct row *row, UInt block)
{
	for (UInt i = 0; i < row->missing_used; i++) {
		if (row->missing[i].block == block)
			return &row->missing[i];
	}
	if (row->missing_used == row->missing_capacity) {
		row->missing_capacity = 2 * row->missing_capacity + 4;
		row->missing = VG_(realloc)("kbbv.missing", row->missing,
					    row->missing_capacity * sizeof(struct missing));
	}
	row->missing[row->missing_used] = (struct missing){block, 0};
	return &row->missing[row->missing_used++];
}

/*
 * Overlapping blocks have the same instructions after the fault. The sum is therefore the same
 * whichever of them faulted.
 */
ULong row_take_back(struct row *row, Addr address)
{
	for (UInt i = blocks_count(); i-- > 0;) {
		const struct block *block = blocks_at(i);
		UInt missing = blocks_missing_at(block, address);

		if (missing == 0 || block_instructions(row, block) < missing)
			continue;
		missing_of(row, block->id)->instructions += missing;
		row->instructions -= missing;
		return missing;
	}
	return 0;
}

void row_clear(struct row *row)
{
	for (UInt i = 0; i < row->touched_used; i++)
		row->hits[row->touched[i]] = 0;
	row->touched_used = 0;
	row->missing_used = 0;
	row->instructions = 0;
}

void row_free(struct row *row)
{
	VG_(free)(row->hits);
	VG_(free)(row->touched);
	VG_(free)(row->missing);
}
