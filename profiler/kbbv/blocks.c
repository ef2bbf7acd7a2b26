/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of blocks, and the counters that translated code increments. */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

/*
 * Gives the symbol's name; the tool headers only offer the demangled C++ name. Declared as in
 * Valgrind's pub_core_debuginfo.h; libcoregrind exports the function.
 */
extern Bool VG_(get_fnname_raw)(DiEpoch epoch, Addr address, const HChar **name);

/* Translated code contains the addresses of counters, so chunks never move. */
enum { CHUNK = 8192, AT_ONCE = 8 };

static VgHashTable *by_address;
static struct block **blocks;
static UInt blocks_used;
static UInt blocks_capacity;

static ULong **chunks;
static UInt chunks_used;
static struct {
	UInt weight;
	UInt block;
} * counters;
static UInt counters_used;

void blocks_initialise(void)
{
	by_address = VG_(HT_construct)("kbbv.blocks");
}

UInt blocks_count(void)
{
	return blocks_used;
}

const struct block *blocks_at(UInt id)
{
	return blocks[id];
}

UInt counters_count(void)
{
	return counters_used;
}

UInt counter_weight(UInt counter)
{
	return counters[counter].weight;
}

UInt counter_block(UInt counter)
{
	return counters[counter].block;
}

ULong *counter_place(UInt counter)
{
	return &chunks[counter / CHUNK][counter % CHUNK];
}

static void add_chunk(void)
{
	chunks_used++;
	chunks = VG_(realloc)("kbbv.chunks", chunks, chunks_used * sizeof(*chunks));
	chunks[chunks_used - 1] = VG_(calloc)("kbbv.counters", CHUNK, sizeof(ULong));
	counters =
	    VG_(realloc)("kbbv.weights", counters, (SizeT)chunks_used * CHUNK * sizeof(*counters));
}

static UInt add_counter(UInt weight, UInt block)
{
	if (counters_used == chunks_used * CHUNK)
		add_chunk();
	counters[counters_used].weight = weight;
	counters[counters_used].block = block;
	return counters_used++;
}

/* Checks several counters at once, because most are zero. */
static Bool all_zero(const ULong *some)
{
	return (some[0] | some[1] | some[2] | some[3] | some[4] | some[5] | some[6] | some[7]) == 0;
}

static ULong harvest_some(ULong *some, UInt first, struct row *row)
{
	ULong instructions = 0;

	for (UInt i = 0; i < AT_ONCE; i++) {
		if (some[i] == 0)
			continue;
		instructions += some[i] * counters[first + i].weight;
		if (row->hits[first + i] == 0)
			row->touched[row->touched_used++] = first + i;
		row->hits[first + i] += some[i];
		some[i] = 0;
	}
	return instructions;
}

ULong counters_harvest(struct row *row)
{
	ULong instructions = 0;

	for (UInt first = 0; first < counters_used; first += AT_ONCE) {
		ULong *some = counter_place(first);

		if (!all_zero(some))
			instructions += harvest_some(some, first, row);
	}
	return instructions;
}

/* Copies every text immediately: the next query may invalidate the previous answer. */
static void describe(const struct block *block)
{
	DiEpoch epoch = VG_(current_DiEpoch)();
	const HChar *function = "", *directory = "", *file = "", *object = "";
	const HChar *ignored;
	UInt line = 0;
	Bool entry = VG_(get_fnname_if_entry)(epoch, block->address, &ignored);

	stream_begin(FRAME_BLOCK);
	stream_number(block->id);
	stream_number(block->address);
	stream_number(block->instructions);
	stream_number(entry);
	if (!VG_(get_filename_linenum)(epoch, block->address, &file, &directory, &line))
		line = 0;
	stream_number(line);
	if (!VG_(get_fnname_raw)(epoch, block->address, &function))
		function = "";
	stream_text(function);
	stream_text(line ? directory : "");
	stream_text(line ? file : "");
	if (!VG_(get_objname)(epoch, block->address, &object))
		object = "";
	stream_text(object);
	stream_text("");  /* no CFG checksum */
	stream_number(0); /* no index in a CFG */
	stream_number(block->waits);
	stream_finish();
}

static struct block *add_block(const struct block *wanted, const UInt *weights)
{
	struct block *block = VG_(malloc)("kbbv.block", sizeof(*block));

	*block = *wanted;
	block->id = blocks_used;
	block->first_counter = counters_used;
	block->lengths = VG_(malloc)("kbbv.lengths", block->instructions);
	VG_(memcpy)(block->lengths, wanted->lengths, block->instructions);
	block->request = sites_request_at(block->address);
	for (UInt i = 0; i < block->counters; i++)
		add_counter(weights[i], block->id);
	if (blocks_used == blocks_capacity) {
		blocks_capacity = blocks_capacity ? 2 * blocks_capacity : 4096;
		blocks = VG_(realloc)("kbbv.table", blocks, blocks_capacity * sizeof(*blocks));
	}
	blocks[blocks_used++] = block;
	VG_(HT_add_node)(by_address, block);
	if (stream_is_open())
		describe(block);
	return block;
}

static Word differs(const void *one, const void *other)
{
	const struct block *a = one, *b = other;

	return a->fingerprint != b->fingerprint || a->instructions != b->instructions ||
	       a->counters != b->counters;
}

struct block *blocks_find_or_add(const struct block *wanted, const UInt *weights)
{
	struct block *known = VG_(HT_gen_lookup)(by_address, wanted, differs);

	return known ? known : add_block(wanted, weights);
}

/* A run counts where it begins; a repeated string instruction, always the last, at its exit. */
UInt blocks_missing_at(const struct block *block, Addr address)
{
	Addr at = block->address;
	UInt instruction = 0, end = 0;

	if (address < at || address >= at + block->bytes)
		return 0;
	for (; instruction < block->instructions && at < address; instruction++)
		at += block->lengths[instruction];
	for (UInt run = 0; run < block->runs; run++) {
		end += counter_weight(block->first_counter + run);
		if (instruction < end)
			return end - instruction;
	}
	return 0;
}
