/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan's policies as data for libkadapt. */
#ifndef KADENCE_PLAN_OBJECT_H
#define KADENCE_PLAN_OBJECT_H

#include "plan/plan.h"

namespace kadence
{

/* Defines `kadapt_plan` in this unit. Later calls do nothing. */
void define_plan_object(const plan &what);

/* A symbol that makes the linker take a part of libkadapt, and the name of a reference to it. */
struct anchor {
	const char *name;
	const char *reference;
};

/* The part with the interposed functions for I/O. */
const anchor io_anchor = {"kadapt_io_anchor", "kadapt_io_reference"};

/* The part that notices when the program goes under seccomp(2). */
const anchor filter_anchor = {"kadapt_filter_anchor", "kadapt_filter_reference"};

/* The part that binds ranges of memory without a site. */
const anchor memory_anchor = {"kadapt_memory_anchor", "kadapt_memory_reference"};

/* Makes the linker take these parts. Later calls for the same parts do nothing. */
void refer_to(const anchor &wanted);

} // namespace kadence

#endif
