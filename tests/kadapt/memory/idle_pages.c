/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes, touches and frees a block again and again, without a pause and then with long
 * ones. Prints how many KiB the kernel might take after each part.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES ((size_t)16 << 20)
#define PAUSE_US 300000

static void step(void)
{
	char *block = malloc(BYTES);

	memset(block, 1, BYTES);
	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

static long lazily_free(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kibibytes = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "LazyFree: %ld", &kibibytes);
	if (file)
		fclose(file);
	return kibibytes;
}

int main(void)
{
	void *other;

	step(); /* the first block is marked, to see whether blocks can be */
	for (int i = 0; i < 100; i++)
		step();
	printf("%ld\n", lazily_free());
	/* Somebody must look: a block that is freed does it. */
	for (int i = 0; i < 3; i++) {
		usleep(PAUSE_US);
		other = malloc(BYTES / 64);
		__asm__ volatile("" : : "r"(other) : "memory");
		free(other);
	}
	printf("%ld\n", lazily_free());
	step();
	printf("%ld\n", lazily_free());
	return 0;
}
