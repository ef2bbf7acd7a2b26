// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "phases.h"

#define FIRST_BUCKETS 65536
#define PAGE_BYTES 4096
#define LONGEST_INSTRUCTION 15

static struct block **buckets;
static size_t bucket_count, block_count;

/* Blocks that an interrupt or exception kept from going on. They nest. */
#define MOST_INTERRUPTED 64
static struct block *interrupted[MOST_INTERRUPTED];
static unsigned int interrupted_count;
static struct block *before;

static const char *const endings[] = {
    [FALLS] = "falls",	 [BRANCHES] = "branches", [JUMPS] = "jumps",
    [CALLS] = "calls",	 [CALLS_BY] = "calls-by", [RETURNS] = "returns",
    [LEAVES] = "leaves", [RESUMES] = "resumes",	  [REPEATS] = "repeats",
};

static void *taken(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static size_t bucket_of(uint64_t address, uint64_t page)
{
	uint64_t hash = (address ^ page >> 5) * 0x9e3779b97f4a7c15ULL;

	return hash >> 32 & (bucket_count - 1);
}

static void grow(void)
{
	struct block **old = buckets;
	const size_t old_count = bucket_count;

	bucket_count = old_count ? 2 * old_count : FIRST_BUCKETS;
	buckets = taken(calloc(bucket_count, sizeof(struct block *)));
	for (size_t i = 0; i < old_count; i++)
		for (struct block *block = old[i], *next; block; block = next) {
			struct block **bucket = &buckets[bucket_of(block->address, block->page)];

			next = block->next;
			block->next = *bucket;
			*bucket = block;
		}
	free(old);
}

struct block *block_at(uint64_t address, uint64_t page, uint64_t content, bool *is_new)
{
	struct block **bucket, *block;

	if (block_count == bucket_count)
		grow();
	bucket = &buckets[bucket_of(address, page)];
	for (block = *bucket; block; block = block->next)
		if (block->address == address && block->page == page && block->content == content)
			break;
	*is_new = !block;
	if (block)
		return block;
	block = taken(calloc(1, sizeof(*block)));
	block->address = address;
	block->page = page;
	block->content = content;
	block->counts = taken(calloc(PHASES, sizeof(uint64_t)));
	block->next = *bucket;
	*bucket = block;
	block_count++;
	return block;
}

static bool may_follow(const struct block *block, uint64_t address)
{
	switch (block->ending) {
	case FALLS:
		return address == block->address + block->bytes;
	case REPEATS:
		return address == block->last || address == block->address + block->bytes;
	case BRANCHES:
		return address == block->target || address == block->address + block->bytes;
	case JUMPS:
	case CALLS:
		return address == block->target;
	default:
		return true;
	}
}

static void count_edge(struct block *block, uint64_t address, unsigned int phase)
{
	struct successor *found = block->successors;

	while (found && found->address != address)
		found = found->next;
	if (!found) {
		found = taken(calloc(1, sizeof(*found)));
		found->address = address;
		found->counts = taken(calloc(PHASES, sizeof(uint64_t)));
		found->next = block->successors;
		block->successors = found;
	}
	found->counts[phase]++;
}

/* The last interrupted block that may go on here. Those above it never will. */
static struct block *resumed(uint64_t address)
{
	for (unsigned int i = interrupted_count; i--;)
		if (may_follow(interrupted[i], address)) {
			interrupted_count = i;
			return interrupted[i];
		}
	return NULL;
}

static void interrupt(struct block *block)
{
	if (interrupted_count == MOST_INTERRUPTED)
		memmove(interrupted, interrupted + 1, --interrupted_count * sizeof(block));
	interrupted[interrupted_count++] = block;
}

/*
 * QEMU 7.2 shows a plugin the beginning of an instruction across two pages as the end of one block,
 * and then executes the instruction in the next block.
 */
static bool ends_too_late(const struct block *block, uint64_t address)
{
	return address == block->last && block->instructions > 1 &&
	       (address ^ (address + LONGEST_INSTRUCTION - 1)) >= PAGE_BYTES;
}

static void end_earlier(struct block *block)
{
	block->instructions--;
	block->bytes = block->last - block->address;
	block->ending = FALLS;
	block->target = 0;
}

/* The block that the processor comes from, or NULL: the one before, or one that was interrupted. */
static struct block *predecessor(uint64_t address)
{
	struct block *from = before;

	if (from && from->ending == RESUMES)
		return resumed(address);
	if (from && from->ending != REPEATS && ends_too_late(from, address))
		end_earlier(from);
	if (from && !may_follow(from, address)) {
		interrupt(from);
		return NULL;
	}
	return from;
}

bool block_ran(struct block *block, unsigned int phase)
{
	struct block *from = predecessor(block->address);

	if (from && from->ending == REPEATS && block->address == from->last) {
		before = from;
		return false;
	}
	block->counts[phase]++;
	before = block;
	if (from)
		count_edge(from, block->address, phase);
	return true;
}

static void print_counts(FILE *file, const uint64_t *counts, unsigned int phases)
{
	for (unsigned int phase = 0; phase < phases; phase++)
		fprintf(file, " %" PRIu64, counts[phase]);
	fputc('\n', file);
}

static uint64_t executions(const struct block *block)
{
	uint64_t sum = 0;

	for (unsigned int phase = 0; phase < PHASES; phase++)
		sum += block->counts[phase];
	return sum;
}

static void print(FILE *file, const struct block *block, unsigned int phases)
{
	fprintf(file, "block %" PRIx64 " %" PRIu64 " %" PRIu64 " %s %" PRIx64, block->address,
		block->bytes, block->instructions, endings[block->ending], block->target);
	print_counts(file, block->counts, phases);
	for (const struct successor *edge = block->successors; edge; edge = edge->next) {
		fprintf(file, "edge %" PRIx64 " %" PRIu64 " %" PRIx64, block->address, block->bytes,
			edge->address);
		print_counts(file, edge->counts, phases);
	}
}

static void print_of_program(FILE *file, const struct block *block, unsigned int phases)
{
	fprintf(file, "program %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 " ", block->page,
		block->address, block->bytes, block->instructions);
	for (unsigned int i = 0; i < block->begin_bytes; i++)
		fprintf(file, "%02x", block->begin[i]);
	print_counts(file, block->counts, phases);
}

static void print_instructions(FILE *file)
{
	uint64_t kernel = 0, programs = 0;

	for (size_t i = 0; i < bucket_count; i++)
		for (const struct block *block = buckets[i]; block; block = block->next)
			*(block->address >= KERNEL ? &kernel : &programs) +=
			    executions(block) * block->instructions;
	fprintf(file, "ran %" PRIu64 " %" PRIu64 "\n", kernel, programs);
}

void blocks_print(FILE *file, unsigned int phases)
{
	print_instructions(file);
	for (size_t i = 0; i < bucket_count; i++)
		for (const struct block *block = buckets[i]; block; block = block->next)
			if (executions(block))
				(block->address >= KERNEL ? print : print_of_program)(file, block,
										      phases);
}
