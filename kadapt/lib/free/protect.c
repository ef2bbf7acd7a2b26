// SPDX-License-Identifier: MIT
/*
 * Interposed: a program may change what pages of its blocks are (guard pages, locked
 * memory, memory that a child does not get). With malloc's blocks that ends when the
 * block is freed, so such a block is not kept.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "arena/next.h"

const int kadapt_protect_anchor = 1;

/* Advice about contents, or about what comes next, which is no property of the pages. */
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
