/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches a few pages of very large blocks and mappings. One mapping has MAP_NORESERVE. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "blocks_of_many_sizes.h"

#define BYTES ((size_t)256 << 20)
#define STEP ((size_t)16 << 20)

static unsigned long touch(unsigned char *block)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < BYTES; i += STEP)
		block[i] += (unsigned char)(i / STEP + 1);
	for (size_t i = 0; i < BYTES; i += STEP / 2)
		sum += block[i];
	return sum;
}

int main(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned char *zeroes = calloc(BYTES, 1);
	unsigned char *mapping = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	unsigned char *unreserved =
	    mmap(NULL, 8 * BYTES, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, -1, 0);

	printf("%lu %lu %lu\n", touch(zeroes), touch(mapping), touch(unreserved + BYTES));
	free(zeroes);
	zeroes = calloc(BYTES, 1);
	printf("%lu\n", touch(zeroes));
	free(zeroes);
	return munmap(mapping, BYTES) || munmap(unreserved, 8 * BYTES);
}
