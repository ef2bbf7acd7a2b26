/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches one page of each block of 3 MiB, although the plan's profile may have seen the
 * blocks touched whole. Prints the peak of resident memory, in KiB, and the page faults on
 * standard error.
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
