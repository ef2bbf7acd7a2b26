/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KADENCE_PLAN_TRIALS_H
#define KADENCE_PLAN_TRIALS_H

#include "plan/plan.h"
#include "plan/plan_json.h"

namespace kadence
{

/* Reads what the program tries of its plan; returns an empty string, or why it is refused. */
std::string read_trials(const char *path, const json &document, plan &result);

} // namespace kadence

#endif
