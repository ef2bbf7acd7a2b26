/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KADENCE_PLAN_LAYOUT_H
#define KADENCE_PLAN_LAYOUT_H

#include "plan/plan.h"
#include "plan/plan_json.h"

namespace kadence
{

/* Reads how often the program's code ran; returns an empty string, or why it is refused. */
std::string read_layout(const char *path, const json &document, plan &result);

} // namespace kadence

#endif
