/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests the most unusual sizes and alignments that the C library defines; checks errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "blocks_of_many_sizes.h"

#define BYTES ((size_t)5 << 20)
#define PAGE ((size_t)4096)

static void tell(const char *what, void *block)
{
	printf("%s: %s, errno %d\n", what, block ? "block" : "none", errno);
	free(block);
	errno = 0;
}

static void too_much(size_t half)
{
	tell("malloc", malloc(PTRDIFF_MAX));
	tell("malloc of all", malloc(SIZE_MAX));
	tell("calloc", calloc(half, 4));
	tell("calloc, overflowing", calloc(half, half));
	tell("realloc", realloc(NULL, PTRDIFF_MAX));
	tell("reallocarray", reallocarray(NULL, half, half));
	tell("aligned_alloc", aligned_alloc(4096, PTRDIFF_MAX - 4095));
	tell("memalign", memalign(1 << 21, PTRDIFF_MAX));
}

static void aligned(size_t alignment)
{
	unsigned char *block;
	int error = posix_memalign((void **)&block, alignment, BYTES);

	printf("%zu: %d", alignment, error);
	if (!error) {
		printf(" %s", (uintptr_t)block % alignment ? "unaligned" : "aligned");
		fill(block, BYTES, alignment);
		block = realloc(block, 2 * BYTES);
		check(block, BYTES, alignment);
		free(block);
	}
	putchar('\n');
}

static void usable(void)
{
	unsigned char *block = malloc(BYTES + 1);
	size_t bytes = malloc_usable_size(block);

	printf("%s\n", bytes > BYTES ? "enough" : "short");
	fill(block, bytes, 1);
	check(block, bytes, 1);
	free(block);
	printf("%zu\n", malloc_usable_size(NULL));
}

static void cleared(void)
{
	for (int round = 0; round < 5; round++) {
		size_t size = BYTES + (size_t)round * 10000;
		unsigned char *block = calloc(size / 100, 100);

		for (size_t i = 0; i < size / 100 * 100; i++)
			if (block[i])
				exit(1);
		memset(block, 0xee, size / 100 * 100);
		free(block);
	}
	puts("cleared");
}

/* Splits an area until the kernel allows no more mappings. */
static void use_up_mappings(char *area, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 2 * PAGE)
		if (mprotect(area + at, PAGE, PROT_READ))
			return;
}

static void shrunk_without_mappings(void)
{
	const size_t bytes = PAGE << 18;
	char *area =
	    mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned char *block = malloc(4 * BYTES);

	fill(block, 4 * BYTES, 3);
	use_up_mappings(area, bytes);
	block = realloc(block, BYTES);
	munmap(area, bytes);
	check(block, BYTES, 3);
	puts("shrunk");
	free(block);
}

int main(void)
{
	errno = 0;
	too_much(SIZE_MAX / 2);
	for (size_t alignment = 1; alignment <= (size_t)8 << 20; alignment *= 2)
		aligned(alignment);
	aligned(24);
	aligned(0);
	usable();
	cleared();
	shrunk_without_mappings();
	errno = 77;
	free(malloc(BYTES));
	printf("errno %d\n", errno);
	free(NULL);
	free(malloc(0));
	return 0;
}
