// SPDX-License-Identifier: MIT
/* These functions replace malloc() and its relatives at the plan's memory sites. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "arena/next.h"
#include "libkadapt.h"

static inline int is_small(size_t size)
{
	return size < atomic_load_explicit(&kadapt_memory_least, memory_order_relaxed);
}

static int is_power_of_two(size_t value)
{
	return value && !(value & (value - 1));
}

/* If malloc() fails, gives the kept pages back and tries again. */
static __attribute__((noinline)) void *take(size_t size, unsigned int treatments)
{
	size_t dirty;
	void *block = kadapt_arena_take(size, 1, treatments, &dirty);

	if (!block)
		block = malloc(size);
	if (!block && kadapt_arena_give_kept())
		block = malloc(size);
	return block;
}

void *kadapt_malloc(size_t size, unsigned int treatments)
{
	return is_small(size) ? malloc(size) : take(size, treatments);
}

static __attribute__((noinline)) void *take_cleared(size_t count, size_t size,
						    unsigned int treatments)
{
	size_t dirty;
	char *block = kadapt_arena_take(count * size, 1, treatments, &dirty);

	if (!block)
		return calloc(count, size);
	return memset(block, 0, dirty < count * size ? dirty : count * size);
}

void *kadapt_calloc(size_t count, size_t size, unsigned int treatments)
{
	size_t all;

	if (__builtin_mul_overflow(count, size, &all) || is_small(all))
		return calloc(count, size);
	return take_cleared(count, size, treatments);
}

/* Moves the C library's block into the arena: it has grown to a size that the arena serves. */
static void *move_in(void *block, size_t size, unsigned int treatments)
{
	size_t bytes = kadapt_next_malloc_usable_size(block);
	size_t dirty;
	void *place = kadapt_arena_take(size, 1, treatments, &dirty);

	if (!place)
		return realloc(block, size);
	memcpy(place, block, bytes < size ? bytes : size);
	kadapt_next_free(block);
	return place;
}

void *kadapt_realloc(void *block, size_t size, unsigned int treatments)
{
	if (!block)
		return kadapt_malloc(size, treatments);
	if (is_small(size) || kadapt_is_arenas(block) ||
	    !is_small(kadapt_next_malloc_usable_size(block)))
		return realloc(block, size);
	return move_in(block, size, treatments);
}

void *kadapt_reallocarray(void *block, size_t count, size_t size, unsigned int treatments)
{
	size_t all;

	if (__builtin_mul_overflow(count, size, &all))
		return reallocarray(block, count, size);
	return kadapt_realloc(block, all, treatments);
}

/* Returns NULL if the original must serve the call, or must judge the alignment. */
static void *take_aligned(size_t alignment, size_t size, unsigned int treatments)
{
	size_t dirty;

	if (is_small(size) || !is_power_of_two(alignment))
		return NULL;
	return kadapt_arena_take(size, alignment, treatments, &dirty);
}

void *kadapt_memalign(size_t alignment, size_t size, unsigned int treatments)
{
	void *block = take_aligned(alignment, size, treatments);

	return block ? block : memalign(alignment, size);
}

void *kadapt_aligned_alloc(size_t alignment, size_t size, unsigned int treatments)
{
	void *block = take_aligned(alignment, size, treatments);

	return block ? block : aligned_alloc(alignment, size);
}

int kadapt_posix_memalign(void **place, size_t alignment, size_t size, unsigned int treatments)
{
	void *block = NULL;

	if (alignment >= sizeof(void *))
		block = take_aligned(alignment, size, treatments);
	if (!block)
		return posix_memalign(place, alignment, size);
	*place = block;
	return 0;
}
