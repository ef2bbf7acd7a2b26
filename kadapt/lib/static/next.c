// SPDX-License-Identifier: MIT
/*
 * For static programs, in the place of next.c: nothing can be interposed there,
 * because the C library's objects call one another by other names. So there are
 * no rings, and redirected calls are plain; batches are what they are.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "libkadapt.h"
#include "next.h"

const int kadapt_io_anchor = 0;

int kadapt_is_interposed(void)
{
	return 0;
}

#define DEFINE_NEXT(type, name, parameters, arguments)                                             \
	type kadapt_next_##name parameters                                                         \
	{                                                                                          \
		return name arguments;                                                             \
	}

KADAPT_NEXT_FUNCTIONS(DEFINE_NEXT)
