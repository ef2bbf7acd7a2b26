/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan's policies as data for libkadapt. */
#ifndef KADENCE_PLAN_OBJECT_H
#define KADENCE_PLAN_OBJECT_H

#include "plan/plan.h"

namespace kadence
{

/* Defines `kadapt_plan` in this unit, the first time it is called. */
void define_plan_object(const plan &what);

/* What the linker takes parts of libkadapt for, and the name of a reference to it in a unit. */
struct anchor {
	const char *name;
	const char *reference;
};

/* The interposed functions of I/O paths. */
const anchor io_anchor = {"kadapt_io_anchor", "kadapt_io_reference"};

/* What binds the ranges of memory that no site is about. */
const anchor memory_anchor = {"kadapt_memory_anchor", "kadapt_memory_reference"};

/* Has the program linked with these, the first time it is called for them. */
void refer_to(const anchor &wanted);

} // namespace kadence

#endif
