/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates until malloc fails. With an argument, "address" or "data", it first limits
 * its address space or its data, after its first allocations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "blocks_of_many_sizes.h"

#define PIECE ((size_t)128 << 20)
#define MOST 64
#define LIMIT ((rlim_t)1 << 30)

static void limit_itself(int resource)
{
	struct rlimit limit = {.rlim_cur = LIMIT, .rlim_max = LIMIT};

	if (setrlimit(resource, &limit))
		exit(2);
}

/* Touches only the first page of each block: addresses run out, not memory. */
static int allocate_until_refused(void)
{
	static unsigned char *blocks[MOST];
	int count = 0;

	while (count < MOST && (blocks[count] = malloc(PIECE)) != NULL) {
		blocks[count][0] = (unsigned char)count;
		count++;
	}
	for (int i = 0; i < count; i++) {
		if (blocks[i][0] != i)
			exit(1);
		free(blocks[i]);
	}
	return count;
}

int main(int count, char **arguments)
{
	unsigned char *early = malloc(PIECE / 64);

	fill(early, PIECE / 64, 3);
	free(malloc(PIECE / 64));
	if (count > 1)
		limit_itself(strcmp(arguments[1], "data") ? RLIMIT_AS : RLIMIT_DATA);
	for (int round = 0; round < 3; round++) {
		int blocks = allocate_until_refused();

		printf("%d blocks, then %s\n", blocks, blocks < MOST ? strerror(errno) : "enough");
	}
	check(early, PIECE / 64, 3);
	early = realloc(early, PIECE / 32);
	check(early, PIECE / 64, 3);
	free(early);
	return 0;
}
