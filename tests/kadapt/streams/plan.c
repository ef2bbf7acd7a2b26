// SPDX-License-Identifier: GPL-2.0-or-later
/* What the plugin emits for a program whose shared libraries' writes may use rings. */
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .flags = KADAPT_PLAN_IO | KADAPT_PLAN_STREAMS,
};

const int *const anchor __attribute__((used)) = &kadapt_io_anchor;
