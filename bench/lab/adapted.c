// SPDX-License-Identifier: GPL-2.0-or-later
/* The plan, which the compiler plugin adds to an adapted program. */
#ifdef ADAPTED
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 1,
    .flags = KADAPT_PLAN_IO,
    .policy = {{.phase = 0}},
};

__attribute__((used)) static const int *const interposed = &kadapt_io_anchor;
#endif
