/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records whose content follows from their number, so that any byte of a sequence of them tells
 * whether it is in its place: nothing missing, nothing twice, nothing torn.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARGEST_RECORD 1024

/* Numbers as from dice, the same for the same seed. */
uint64_t dice(uint64_t *state);
/* At least 0, below `end`. */
uint64_t dice_below(uint64_t *state, uint64_t end);
/* Spin for so many turns. */
void dice_spin(uint64_t *state, uint64_t end);

/* Which sequence: of what size, and of what seed. */
struct sequence {
	size_t size; /* a power of two up to LARGEST_RECORD, so that no page has half of one */
	uint64_t seed;
};

void record_fill(const struct sequence *sequence, uint64_t number, void *record);

/* How far a sequence was seen. */
struct seen {
	const struct sequence *sequence;
	uint64_t bytes;
	bool wrong; /* a byte was not the one that belongs there */
};

void seen_more(struct seen *seen, const void *bytes, size_t count);
/* Everything of a file, which is a sequence's continuation. */
void seen_file(struct seen *seen, int descriptor);
/* Whole records, all those that were told to be there, and at most one more. */
bool seen_all(const struct seen *seen, uint64_t told);

#endif
