// SPDX-License-Identifier: MIT
/* What a unit with I/O sites refers to, so that the linker takes these functions. */
#include "interpose/interpose.h"
#include "libkadapt.h"

const int kadapt_io_anchor = 1;

static const void *const interposed __attribute__((used)) = &kadapt_interposed_calls;
