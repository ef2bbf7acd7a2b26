// SPDX-License-Identifier: MIT
/*
 * free() and the other functions that take malloc's blocks. They are interposed for the
 * whole process, because a block may be freed anywhere. For a block that is not the
 * arena's, they cost one comparison more.
 *
 * The definitions are weak. So a program or a sanitizer that defines functions of these
 * names keeps its own; then there is no arena.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "arena/next.h"
#include "libkadapt.h"

/* Until the original has been found, next_NAME points to the function that finds it. */
#define DEFINE_NEXT(type, name, parameters, arguments)                                             \
	static type find_##name parameters;                                                        \
	static __typeof__(&name) next_##name = find_##name;                                        \
                                                                                                   \
	static void look_up_##name(void)                                                           \
	{                                                                                          \
		void *function = dlsym(RTLD_NEXT, #name);                                          \
                                                                                                   \
		__atomic_store_n(&next_##name, (__typeof__(&name))function, __ATOMIC_RELAXED);     \
	}                                                                                          \
                                                                                                   \
	type kadapt_next_##name parameters                                                         \
	{                                                                                          \
		return __atomic_load_n(&next_##name, __ATOMIC_RELAXED) arguments;                  \
	}

DEFINE_NEXT(void, free, (void *block), (block))
DEFINE_NEXT(void *, realloc, (void *block, size_t size), (block, size))
DEFINE_NEXT(size_t, malloc_usable_size, (void *block), (block))

/*
 * dlsym() may itself call free(), for the error text that an earlier failure left. That
 * text is not freed. This happens at most once, before the program begins.
 */
static void find_free(void *block)
{
	static _Thread_local int is_looking __attribute__((tls_model("initial-exec")));

	if (is_looking)
		return;
	is_looking = 1;
	look_up_free();
	is_looking = 0;
	next_free(block);
}

static void *find_realloc(void *block, size_t size)
{
	look_up_realloc();
	return next_realloc(block, size);
}

static size_t find_malloc_usable_size(void *block)
{
	look_up_malloc_usable_size();
	return next_malloc_usable_size(block);
}

static __attribute__((noinline)) void free_in_range(void *block)
{
	if (!kadapt_arena_give(block))
		kadapt_next_free(block);
}

static void own_free(void *block)
{
	if (kadapt_is_arenas(block))
		free_in_range(block);
	else
		kadapt_next_free(block);
}

/* Moves a block to malloc, because the arena has no room for it. */
static void *move_out(void *block, size_t size)
{
	size_t bytes = kadapt_arena_usable(block);
	void *place = malloc(size);

	if (!place)
		return NULL;
	memcpy(place, block, bytes < size ? bytes : size);
	kadapt_arena_give(block);
	return place;
}

static void *resize(void *block, size_t size)
{
	void *place;

	if (kadapt_arena_resize(block, size))
		return block;
	place = kadapt_arena_move(block, size);
	return place ? place : move_out(block, size);
}

static __attribute__((noinline)) void *realloc_in_range(void *block, size_t size)
{
	if (!kadapt_arena_usable(block))
		return kadapt_next_realloc(block, size);
	if (size)
		return resize(block, size);
	kadapt_arena_give(block);
	return NULL;
}

static void *own_realloc(void *block, size_t size)
{
	if (kadapt_is_arenas(block))
		return realloc_in_range(block, size);
	return kadapt_next_realloc(block, size);
}

static void *own_reallocarray(void *block, size_t count, size_t size)
{
	size_t all;

	if (!__builtin_mul_overflow(count, size, &all))
		return own_realloc(block, all);
	errno = ENOMEM;
	return NULL;
}

static size_t own_malloc_usable_size(void *block)
{
	size_t bytes = kadapt_is_arenas(block) ? kadapt_arena_usable(block) : 0;

	return bytes ? bytes : kadapt_next_malloc_usable_size(block);
}

#define EVERYBODYS(name) __typeof__(name) name __attribute__((weak, alias("own_" #name)))

EVERYBODYS(free);
EVERYBODYS(realloc);
EVERYBODYS(reallocarray);
EVERYBODYS(malloc_usable_size);

int kadapt_is_free_ours(void)
{
	return kadapt_limits_anchor && kadapt_protect_anchor &&
	       dlsym(RTLD_DEFAULT, "free") == (void *)own_free &&
	       dlsym(RTLD_DEFAULT, "realloc") == (void *)own_realloc &&
	       dlsym(RTLD_DEFAULT, "reallocarray") == (void *)own_reallocarray &&
	       dlsym(RTLD_DEFAULT, "malloc_usable_size") == (void *)own_malloc_usable_size;
}

/* Runs before there are threads. */
__attribute__((constructor(101))) static void begin(void)
{
	look_up_free();
	look_up_realloc();
	look_up_malloc_usable_size();
}
