// SPDX-License-Identifier: MIT
/* Writes how often blocks ran that are named for the layout. The callers hold the lock. */
#include "kprofile.h"

#include <string.h>

static int64_t *entered; /* by block of a unit */
static size_t capacity;

static const uint32_t *functions_of(const struct unit *unit)
{
	return unit->words + 1;
}

static uint32_t blocks_of(const struct unit *unit)
{
	return unit->words[1 + FUNCTION_WORDS * unit->words[0]];
}

int64_t *layout_begin(const struct unit *unit)
{
	const size_t wanted = blocks_of(unit);

	if (capacity < wanted) {
		entered = memory_take(2 * wanted * sizeof(*entered));
		capacity = entered ? 2 * wanted : 0;
	} else {
		memset(entered, 0, wanted * sizeof(*entered));
	}
	return entered;
}

static void write_function(const struct unit *unit, size_t number, const uint32_t *function,
			   const uint32_t *rows, const int64_t *counts)
{
	uint32_t ran = 0;

	for (uint32_t block = 0; block < function[4]; block++)
		ran += counts[block] > 0;
	if (!ran)
		return;
	stream_begin(FRAME_LAYOUT);
	stream_number(number);
	stream_text(unit->texts + function[0], strlen(unit->texts + function[0]));
	stream_text(unit->texts + function[1], strlen(unit->texts + function[1]));
	stream_checksum(function[2]);
	stream_number(ran);
	for (uint32_t block = 0; block < function[4]; block++)
		if (counts[block] > 0) {
			stream_number(rows[BLOCK_WORDS * block + 1]);
			stream_number((uint64_t)counts[block]);
		}
	stream_finish();
}

void layout_write(const struct unit *unit, size_t number, const int64_t *counts)
{
	const uint32_t *function = functions_of(unit);
	const uint32_t *rows = function + FUNCTION_WORDS * unit->words[0] + 1;

	for (uint32_t left = unit->words[0]; left; left--, function += FUNCTION_WORDS)
		if (function[5])
			write_function(unit, number, function, rows + BLOCK_WORDS * function[3],
				       counts + function[3]);
}
