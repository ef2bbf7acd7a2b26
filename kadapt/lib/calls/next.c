// SPDX-License-Identifier: MIT
/*
 * In dynamic programs dlsym() finds the C library's functions. It runs before main(),
 * because dlsym() takes locks and may allocate, which write(2) in a signal handler
 * must not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "calls/next.h"

/* Constructors of shared libraries run earlier, and find each function by its use. */
#define DEFINE_NEXT(type, name, parameters, arguments)                                             \
	static type find_##name parameters;                                                        \
	static type(*next_##name) parameters = find_##name;                                        \
                                                                                                   \
	static type find_##name parameters                                                         \
	{                                                                                          \
		next_##name = (__typeof__(next_##name))dlsym(RTLD_NEXT, #name);                    \
		return next_##name arguments;                                                      \
	}                                                                                          \
                                                                                                   \
	type kadapt_next_##name parameters                                                         \
	{                                                                                          \
		return next_##name arguments;                                                      \
	}

KADAPT_NEXT_FUNCTIONS(DEFINE_NEXT)
KADAPT_UNBINDING_FUNCTIONS(DEFINE_NEXT)
KADAPT_SIZE_FUNCTIONS(DEFINE_NEXT)

#define FIND_NEXT(type, name, parameters, arguments)                                               \
	next_##name = (__typeof__(next_##name))dlsym(RTLD_NEXT, #name);

__attribute__((constructor(101))) static void find_all(void)
{
	KADAPT_NEXT_FUNCTIONS(FIND_NEXT)
	KADAPT_UNBINDING_FUNCTIONS(FIND_NEXT)
	KADAPT_SIZE_FUNCTIONS(FIND_NEXT)
}
