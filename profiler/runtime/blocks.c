// SPDX-License-Identifier: MIT
#include "kprofile.h"

#include <string.h>

/*
 * Functions by name, file and checksum. Functions of header files are compiled in many units, and
 * static functions of two files may have the same name.
 */
struct known {
	const char *name;
	const char *file;
	uint32_t checksum;
	uint32_t first;
	uint32_t blocks;
};

static struct block *blocks;
static size_t used, capacity;
static struct known *table;
static size_t known_used, table_size;

struct block *blocks_at(uint32_t position)
{
	return &blocks[position];
}

uint32_t blocks_count(void)
{
	return (uint32_t)used;
}

static uint64_t hash_of(const char *name, uint32_t checksum)
{
	uint64_t hash = 14695981039346656037u ^ checksum;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 1099511628211u;
	return hash ^ hash >> 32;
}

static bool is_same(const struct known *one, const struct known *other)
{
	return one->checksum == other->checksum && strcmp(one->name, other->name) == 0 &&
	       strcmp(one->file, other->file) == 0;
}

static struct known *place_of(struct known *in, size_t size, const struct known *wanted)
{
	size_t at = hash_of(wanted->name, wanted->checksum) & (size - 1);

	while (in[at].name && !is_same(&in[at], wanted))
		at = (at + 1) & (size - 1);
	return &in[at];
}

static bool make_room_for_function(void)
{
	size_t size = table_size ? 2 * table_size : 256;
	struct known *larger;

	if (2 * known_used < table_size)
		return true;
	larger = memory_take(size * sizeof(*larger));
	if (!larger)
		return false;
	for (size_t at = 0; at < table_size; at++)
		if (table[at].name)
			*place_of(larger, size, &table[at]) = table[at];
	table = larger;
	table_size = size;
	return true;
}

static bool make_room_for_blocks(size_t more)
{
	size_t wanted = capacity ? capacity : 1024;
	struct block *larger;

	while (wanted < used + more)
		wanted *= 2;
	if (wanted == capacity)
		return true;
	larger = memory_grow(blocks, used * sizeof(*blocks), wanted * sizeof(*blocks));
	if (!larger)
		return false;
	blocks = larger;
	capacity = wanted;
	return true;
}

/* Copies the text: the library that has it may be closed before the profile is written. */
static const char *copy_of(const char *text)
{
	size_t length = strlen(text) + 1;
	char *copy = memory_take(length);

	return copy ? memcpy(copy, text, length) : "";
}

static struct known *add_function(const struct unit *unit, const uint32_t *function,
				  const uint32_t *rows, const char *object)
{
	const struct known wanted = {
	    .name = unit->texts + function[0],
	    .file = unit->texts + function[1],
	    .checksum = function[2],
	    .first = (uint32_t)used,
	    .blocks = function[4],
	};
	struct known *known = place_of(table, table_size, &wanted);

	if (known->name)
		return known->blocks == function[4] ? known : NULL;
	if (!make_room_for_blocks(function[4]))
		return NULL;
	*known = wanted;
	known->name = copy_of(wanted.name);
	known->file = copy_of(wanted.file);
	known_used++;
	for (const uint32_t *row = rows; row < rows + BLOCK_WORDS * function[4]; row += BLOCK_WORDS)
		blocks[used++] = (struct block){
		    .function = known->name,
		    .file = known->file,
		    .object = object,
		    .checksum = function[2],
		    .index = row[1],
		    .line = row[2],
		    .instructions = row[3] >> 1,
		    .entry = row[3] & 1,
		};
	return known;
}

const uint32_t *blocks_add(const struct unit *unit, const char *object)
{
	const uint32_t functions = unit->words[0];
	const uint32_t *function = unit->words + 1;
	const uint32_t *rows = function + FUNCTION_WORDS * functions + 1;
	uint32_t *map = memory_take((rows[-1] + 1) * sizeof(*map));

	for (uint32_t number = 0; map && number < functions; number++, function += FUNCTION_WORDS) {
		struct known *known = NULL;

		if (function[5])
			continue;
		if (make_room_for_function())
			known =
			    add_function(unit, function, rows + BLOCK_WORDS * function[3], object);
		if (!known)
			return NULL;
		for (uint32_t block = 0; block < function[4]; block++)
			map[function[3] + block] = known->first + block;
	}
	return map;
}
