/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the memory programs: fills blocks with bytes that depend on a seed; checks them. */
#ifndef BLOCKS_OF_MANY_SIZES_H
#define BLOCKS_OF_MANY_SIZES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Pseudo-random; yields the same numbers on every machine. */
static inline uint64_t next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static inline void fill(unsigned char *block, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++)
		block[i] = (unsigned char)(i * 31 + seed);
}

/* Ends the program if a block differs from what fill() wrote. */
static inline void check(const unsigned char *block, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++) {
		if (block[i] == (unsigned char)(i * 31 + seed))
			continue;
		printf("byte %zu of %zu is wrong\n", i, size);
		exit(1);
	}
}

#endif
