/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resizes blocks by realloc(): in small steps, by doubling and halving, and at random. */
#define _GNU_SOURCE
#include "blocks_of_many_sizes.h"

#define BLOCKS 6
#define ROUNDS 400

static unsigned char *resize(unsigned char *block, size_t before, size_t size, uint64_t seed)
{
	unsigned char *resized = realloc(block, size);

	if (!resized)
		exit(1);
	check(resized, before < size ? before : size, seed);
	if (size > before)
		fill(resized, size, seed);
	return resized;
}

static void grow_by(size_t step, size_t end)
{
	unsigned char *block = NULL;
	size_t before = 0;

	for (size_t size = step; size <= end; before = size, size += step)
		block = resize(block, before, size, 11);
	printf("grown to %zu\n", before);
	free(block);
}

static void double_and_halve(void)
{
	size_t size = 1000;
	unsigned char *block = resize(NULL, 0, size, 12);

	for (; size < 8000000; size *= 2)
		block = resize(block, size, size * 2, 12);
	for (; size > 1000; size /= 2)
		block = resize(block, size, size / 2, 12);
	printf("%zu\n", size);
	free(block);
}

/* Resizes several blocks in turn, so that they block one another's growth in place. */
static void at_random(uint64_t state)
{
	unsigned char *blocks[BLOCKS] = {NULL};
	size_t sizes[BLOCKS] = {0};

	for (int round = 0; round < ROUNDS; round++) {
		unsigned int i = (unsigned int)(next_number(&state) % BLOCKS);
		size_t size = 1 + next_number(&state) % 1500000;

		blocks[i] = resize(blocks[i], sizes[i], size, i);
		sizes[i] = size;
	}
	for (unsigned int i = 0; i < BLOCKS; i++) {
		printf("%zu\n", sizes[i]);
		check(blocks[i], sizes[i], i);
		if (realloc(blocks[i], 0))
			puts("not freed");
	}
}

int main(void)
{
	grow_by(300000, 6000000);
	grow_by(70001, 1400000);
	double_and_halve();
	at_random(1);
	at_random(2);
	return 0;
}
