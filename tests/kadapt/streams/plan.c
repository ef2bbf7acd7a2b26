// SPDX-License-Identifier: GPL-2.0-or-later
/* As the plugin emits it for a program whose shared libraries may write through rings. */
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .flags = KADAPT_PLAN_IO | KADAPT_PLAN_STREAMS,
};

const int *const anchor __attribute__((used)) = &kadapt_io_anchor;
