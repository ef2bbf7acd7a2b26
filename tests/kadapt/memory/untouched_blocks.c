/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of 3 MiB that a plan may have seen full, of which one page each is touched on this
 * input; what was resident at most, in KiB, and page faults: on standard error.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define BLOCKS 200
#define BLOCK_BYTES ((size_t)3 << 20)

int main(void)
{
	static volatile unsigned char *blocks[BLOCKS];
	struct rusage usage;

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		blocks[i][BLOCK_BYTES / 2] = 1;
	}
	printf("%d\n", blocks[BLOCKS - 1][BLOCK_BYTES / 2]);
	for (int i = 0; i < BLOCKS; i++)
		free((void *)blocks[i]);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%ld %ld\n", usage.ru_maxrss, usage.ru_minflt);
	return 0;
}
