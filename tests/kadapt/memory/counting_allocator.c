/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A complete allocator, to be preloaded or linked into a program. It never reuses
 * memory and aborts if free() receives a block of another allocator. At the end it
 * prints the number of large blocks that were requested.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define POOL ((size_t)8 << 30)
#define LARGE 131072
#define UNIT 4096

static char *pool;
static _Atomic size_t used;
static atomic_int large, freed;

static void *take(size_t alignment, size_t size)
{
	size_t bytes = (size + 2 * UNIT + alignment) / UNIT * UNIT;
	uintptr_t place;

	if (!pool)
		pool = mmap(NULL, POOL, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (size > POOL / 4 || used + bytes > POOL) {
		errno = ENOMEM;
		return NULL;
	}
	large += size >= LARGE;
	place = (uintptr_t)pool + atomic_fetch_add(&used, bytes) + sizeof(size_t);
	place = (place + alignment - 1) / alignment * alignment;
	((size_t *)place)[-1] = size;
	return (void *)place;
}

void *malloc(size_t size)
{
	return take(16, size);
}

void *calloc(size_t count, size_t size)
{
	return take(16, count * size);
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size)
{
	*place = take(alignment, size);
	return *place ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *block)
{
	return block ? ((size_t *)block)[-1] : 0;
}

void free(void *block)
{
	if (!block)
		return;
	if ((uintptr_t)block - (uintptr_t)pool >= POOL)
		abort();
	freed++;
}

void *realloc(void *block, size_t size)
{
	size_t before = malloc_usable_size(block);
	void *place = take(16, size);

	if (place && block)
		memcpy(place, block, before < size ? before : size);
	free(block);
	return place;
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "large blocks: %d, freed: %s\n", large, freed ? "some" : "none");
}
