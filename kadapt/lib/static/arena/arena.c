// SPDX-License-Identifier: MIT
/*
 * For static programs, in the place of arena/arena.c and free/interpose.c: free()
 * can't be interposed there, because the C library's objects call one another by
 * other names. So there is no arena and redirected calls are plain; mappings and
 * ranges are what they are.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>

#include "arena/arena.h"
#include "arena/next.h"
#include "arena/process.h"
#include "arena/ranges.h"

const int kadapt_unmap_anchor = 0;

_Atomic size_t kadapt_memory_least = SIZE_MAX;
uintptr_t kadapt_arena_start;
uintptr_t kadapt_arena_bytes;

void *kadapt_arena_take(size_t size, size_t alignment, unsigned int treatments, size_t *dirty)
{
	(void)size;
	(void)alignment;
	(void)treatments;
	*dirty = 0;
	return NULL;
}

int kadapt_arena_give_kept(void)
{
	return 0;
}

int kadapt_process_has_plain_new(void)
{
	return 0;
}

void kadapt_next_free(void *block)
{
	free(block);
}

size_t kadapt_next_malloc_usable_size(void *block)
{
	return malloc_usable_size(block);
}
