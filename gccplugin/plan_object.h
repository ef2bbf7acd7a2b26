/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan's policies as data for libkadapt. */
#ifndef KADENCE_PLAN_OBJECT_H
#define KADENCE_PLAN_OBJECT_H

#include "plan.h"

namespace kadence
{

/* Defines `kadapt_plan` in this unit, the first time it is called. */
void define_plan_object(const plan &what);

/* Has the program linked with libkadapt's interposed functions, the first time it is called. */
void require_interposition();

} // namespace kadence

#endif
