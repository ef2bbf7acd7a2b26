// SPDX-License-Identifier: MIT
/*
 * In dynamic programs the C library's functions are found by dlsym(), once.
 * Where the interposed functions are not everybody's, because they ended up in a
 * shared library that was loaded late, there may be others in front of them:
 * another adapted program's, which must see the calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "interpose.h"
#include "libkadapt.h"
#include "next.h"

const int kadapt_io_anchor = 1;

/* The references that make the linker put them into the program. */
static const void *const interposed[] __attribute__((used)) = {
    &kadapt_interposed_descriptors, &kadapt_interposed_data,	&kadapt_interposed_waits,
    &kadapt_interposed_processes,   &kadapt_interposed_streams, &kadapt_interposed_paths,
    &kadapt_interposed_exec,
};

int kadapt_is_interposed(void)
{
	return dlsym(RTLD_DEFAULT, "fsync") == kadapt_interposed_descriptors;
}

void *kadapt_find(const char *name, void **found)
{
	void *function = dlsym(RTLD_NEXT, name);

	__atomic_store_n(found, function, __ATOMIC_RELAXED);
	return function;
}

static void *find(const char *name)
{
	return dlsym(kadapt_is_interposed() ? RTLD_NEXT : RTLD_DEFAULT, name);
}

/* Until the function has been found, the one that finds it is in its place. */
#define DEFINE_NEXT(type, name, parameters, arguments)                                             \
	static type find_##name parameters;                                                        \
	static __typeof__(&name) next_##name = find_##name;                                        \
                                                                                                   \
	static type find_##name parameters                                                         \
	{                                                                                          \
		__typeof__(&name) function = (__typeof__(&name))find(#name);                       \
                                                                                                   \
		__atomic_store_n(&next_##name, function, __ATOMIC_RELAXED);                        \
		return function arguments;                                                         \
	}                                                                                          \
                                                                                                   \
	type kadapt_next_##name parameters                                                         \
	{                                                                                          \
		return __atomic_load_n(&next_##name, __ATOMIC_RELAXED) arguments;                  \
	}

KADAPT_NEXT_FUNCTIONS(DEFINE_NEXT)
