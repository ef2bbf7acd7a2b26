/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches all pages of blocks of changing sizes. Prints the peak of resident memory, in
 * KiB, and the page faults on standard error. Argument: how the sizes change.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>

#include "blocks_of_many_sizes.h"

#define MIB ((size_t)1 << 20)
#define SMALL 1000

/* Has three blocks at a time; size_of() returns the size for each round. */
static void take_turns(size_t (*size_of)(int), int rounds)
{
	unsigned char *blocks[3] = {NULL};

	for (int round = 0; round < rounds; round++) {
		size_t size = size_of(round);
		unsigned char **block = &blocks[round % 3];

		free(*block);
		*block = malloc(size);
		memset(*block, round, size);
	}
	for (int i = 0; i < 3; i++)
		free(blocks[i]);
}

static size_t same(int round)
{
	(void)round;
	return 20 * MIB;
}

static size_t growing(int round)
{
	return MIB + (size_t)round * MIB / 3;
}

static size_t shrinking(int round)
{
	return 60 * MIB - (size_t)round * MIB / 3;
}

static size_t arbitrary(int round)
{
	static uint64_t state = 5;

	(void)round;
	return 200000 + next_number(&state) % (40 * MIB);
}

/* Takes and frees large blocks, then takes 100 MiB in small ones. */
static void large_then_small(void)
{
	const size_t count = 100 * MIB / SMALL;
	unsigned char **blocks = malloc(count * sizeof(*blocks));

	take_turns(same, 9);
	for (size_t i = 0; i < count; i++) {
		blocks[i] = malloc(SMALL);
		memset(blocks[i], 1, SMALL);
		/* The arena checks its budget when a program frees a large block. */
		if (i % 1000 == 0)
			free(malloc(MIB / 2));
	}
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
	free(blocks);
}

static void one_after_the_other(void)
{
	take_turns(arbitrary, 60);
	take_turns(shrinking, 150);
	take_turns(growing, 150);
}

static void reallocated(void)
{
	unsigned char *block = NULL;

	for (size_t size = MIB; size <= 120 * MIB; size += MIB) {
		block = realloc(block, size);
		memset(block + size - MIB, 1, MIB);
	}
	free(block);
}

static void run(const char *how)
{
	if (!strcmp(how, "same"))
		take_turns(same, 60);
	else if (!strcmp(how, "grow"))
		take_turns(growing, 150);
	else if (!strcmp(how, "shrink"))
		take_turns(shrinking, 150);
	else if (!strcmp(how, "random"))
		take_turns(arbitrary, 200);
	else if (!strcmp(how, "realloc"))
		reallocated();
	else if (!strcmp(how, "small"))
		large_then_small();
	else
		one_after_the_other();
}

int main(int count, char **arguments)
{
	struct rusage usage;

	run(count > 1 ? arguments[1] : "mixed");
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%ld %ld\n", usage.ru_maxrss, usage.ru_minflt);
	return 0;
}
