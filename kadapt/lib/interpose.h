/* SPDX-License-Identifier: MIT */
/*
 * The functions of the C library that this library defines itself, for
 * everybody in the process. Each does what makes a delay invisible, then what
 * it always did. docs/io.md lists them; adding one is adding a row.
 */
#ifndef LIBKADAPT_INTERPOSE_H
#define LIBKADAPT_INTERPOSE_H

#include "io.h"

/* One for each file of them, so that next.c can ask for the files. */
extern const void *const kadapt_interposed_descriptors KADAPT_HIDDEN;
extern const void *const kadapt_interposed_data KADAPT_HIDDEN;
extern const void *const kadapt_interposed_waits KADAPT_HIDDEN;
extern const void *const kadapt_interposed_processes KADAPT_HIDDEN;
extern const void *const kadapt_interposed_streams KADAPT_HIDDEN;
extern const void *const kadapt_interposed_paths KADAPT_HIDDEN;
extern const void *const kadapt_interposed_exec KADAPT_HIDDEN;

/* Calls that were not redirected use rings, too: KADAPT_PLAN_STREAMS. */
extern int kadapt_has_stream_rings KADAPT_HIDDEN;

/* The C library's function of this name; kept in *found. */
KADAPT_HIDDEN void *kadapt_find(const char *name, void **found);

/* `function` is the original inside the block, found once. */
#define KADAPT_WITH_NEXT(name)                                                                     \
	static void *found;                                                                        \
	__typeof__(&name) function = (__typeof__(&name))__atomic_load_n(&found, __ATOMIC_RELAXED); \
                                                                                                   \
	if (__builtin_expect(!function, 0))                                                        \
		function = (__typeof__(&name))kadapt_find(#name, &found);

/* `before`, then the original. */
#define INTERPOSE(before, type, name, parameters, arguments)                                       \
	type name parameters                                                                       \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		before;                                                                            \
		return function arguments;                                                         \
	}

/*
 * The same for calls that programs make often, on descriptor d: where there is
 * nothing to be done before, no frame is made either. Until the original has been
 * found, the function that finds it is in its place.
 */
#define INTERPOSE_OFTEN(before, type, name, parameters, arguments)                                 \
	static type find_##name parameters;                                                        \
	static __typeof__(&name) next_##name = find_##name;                                        \
                                                                                                   \
	static type find_##name parameters                                                         \
	{                                                                                          \
		void *found;                                                                       \
                                                                                                   \
		kadapt_find(#name, &found);                                                        \
		__atomic_store_n(&next_##name, (__typeof__(&name))found, __ATOMIC_RELAXED);        \
		return next_##name arguments;                                                      \
	}                                                                                          \
                                                                                                   \
	static __attribute__((noinline)) type settle_##name parameters                             \
	{                                                                                          \
		before;                                                                            \
		return __atomic_load_n(&next_##name, __ATOMIC_RELAXED) arguments;                  \
	}                                                                                          \
                                                                                                   \
	type name parameters                                                                       \
	{                                                                                          \
		if (kadapt_is_settled(d))                                                          \
			return __atomic_load_n(&next_##name, __ATOMIC_RELAXED) arguments;          \
		return settle_##name arguments;                                                    \
	}

/* The same for functions that don't return. */
#define INTERPOSE_LAST(before, name, parameters, arguments)                                        \
	void name parameters                                                                       \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		before;                                                                            \
		function arguments;                                                                \
		__builtin_unreachable();                                                           \
	}

/* The same for functions that return nothing. */
#define INTERPOSE_VOID(before, name, parameters, arguments)                                        \
	void name parameters                                                                       \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		before;                                                                            \
		function arguments;                                                                \
	}

#endif
