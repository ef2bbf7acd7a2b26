// SPDX-License-Identifier: MIT
/* In a static program nothing is interposed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libkadapt.h"
#include "next.h"

const int kadapt_io_anchor = 1;

#define DEFINE_NEXT(type, name, parameters, arguments)                                             \
	type kadapt_next_##name parameters                                                         \
	{                                                                                          \
		return name arguments;                                                             \
	}

KADAPT_NEXT_FUNCTIONS(DEFINE_NEXT)
