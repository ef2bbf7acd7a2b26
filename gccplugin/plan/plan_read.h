/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KADENCE_PLAN_READ_H
#define KADENCE_PLAN_READ_H

#include "plan/plan.h"

namespace kadence
{

/* Reads the plan at `path`; returns an empty string, or one sentence saying why it is refused. */
std::string read_plan(const char *path, plan &result);

} // namespace kadence

#endif
