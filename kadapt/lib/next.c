// SPDX-License-Identifier: MIT
/*
 * In dynamic programs the C library's functions are found by dlsym(), before main():
 * dlsym() takes locks and may allocate, as no write(2) does in a signal's handler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "interpose.h"
#include "libkadapt.h"
#include "next.h"

const int kadapt_io_anchor = 1;

static const void *const interposed __attribute__((used)) = &kadapt_interposed_calls;

/* The constructors of shared libraries come before: they find what they call. */
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
KADAPT_RIGHTS_FUNCTIONS(DEFINE_NEXT)

#define FIND_NEXT(type, name, parameters, arguments)                                               \
	next_##name = (__typeof__(next_##name))dlsym(RTLD_NEXT, #name);

__attribute__((constructor(101))) static void find_all(void)
{
	KADAPT_NEXT_FUNCTIONS(FIND_NEXT)
	KADAPT_RIGHTS_FUNCTIONS(FIND_NEXT)
}
