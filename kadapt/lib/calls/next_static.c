// SPDX-License-Identifier: MIT
/* In a static program these are the C library's functions themselves. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "calls/next.h"

#define DEFINE_NEXT(type, name, parameters, arguments)                                             \
	type kadapt_next_##name parameters                                                         \
	{                                                                                          \
		return name arguments;                                                             \
	}

KADAPT_NEXT_FUNCTIONS(DEFINE_NEXT)
