// SPDX-License-Identifier: MIT
/*
 * Interposed, because a program may change properties of its blocks' pages: guard pages,
 * locked memory, memory that a child does not inherit. In a block of malloc, such a change
 * ends when the block is freed. So the arena does not keep such a block.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "arena/next.h"

const int kadapt_protect_anchor = 1;

/* Advice about contents or about coming accesses changes no property of the pages. */
static int is_passing(int advice)
{
	return advice == MADV_DONTNEED || advice == MADV_WILLNEED || advice == MADV_FREE;
}

static void before_change(const void *start)
{
	if (kadapt_is_arenas(start))
		kadapt_arena_mark_changed(start);
}

__attribute__((weak)) int mprotect(void *start, size_t size, int protection)
{
	before_change(start);
	return (int)syscall(SYS_mprotect, start, size, protection);
}

__attribute__((weak)) int pkey_mprotect(void *start, size_t size, int protection, int key)
{
	before_change(start);
	return (int)syscall(SYS_pkey_mprotect, start, size, protection, key);
}

__attribute__((weak)) int madvise(void *start, size_t size, int advice)
{
	if (!is_passing(advice))
		before_change(start);
	return (int)syscall(SYS_madvise, start, size, advice);
}

__attribute__((weak)) int mlock(const void *start, size_t size)
{
	before_change(start);
	return (int)syscall(SYS_mlock, start, size);
}

__attribute__((weak)) int mlock2(const void *start, size_t size, unsigned int flags)
{
	before_change(start);
	return (int)syscall(SYS_mlock2, start, size, flags);
}
