/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records whose contents follow from their numbers. So every byte of a sequence shows whether it is
 * in its place, and no record is missing, doubled or torn.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARGEST_RECORD 1024

/* Random numbers; the same seed gives the same numbers. */
uint64_t dice(uint64_t *state);
/* At least 0, below `end`. */
uint64_t dice_below(uint64_t *state, uint64_t end);
/* Spins for this many turns. */
void dice_spin(uint64_t *state, uint64_t end);

/* A sequence of records: their size, and the seed of their contents. */
struct sequence {
	size_t size; /* a power of two up to LARGEST_RECORD, so that no record lies in two pages */
	uint64_t seed;
};

void record_fill(const struct sequence *sequence, uint64_t number, void *record);

/* How far a sequence was checked. */
struct seen {
	const struct sequence *sequence;
	uint64_t bytes;
	bool wrong; /* a byte was not in its place */
};

void seen_more(struct seen *seen, const void *bytes, size_t count);
/* Checks a whole file, which continues the sequence. */
void seen_file(struct seen *seen, int descriptor);
/* Whether there are whole records only: all that were told of, and at most one more. */
bool seen_all(const struct seen *seen, uint64_t told);

#endif
