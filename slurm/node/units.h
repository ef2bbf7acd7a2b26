// SPDX-License-Identifier: GPL-2.0-or-later
/* Units that the administrator installs on nodes: `kadence site units` calls this on each. */
#ifndef KADENCE_NODE_UNIT_COMMANDS_H
#define KADENCE_NODE_UNIT_COMMANDS_H

#include <string>

#include "site/site.h"

namespace kadence
{

/* What is to be done about a unit. */
enum class unit_action { none, install, remove };

/*
 * Installs or removes one of the site's units. Returns a line of JSON: the node, its kernel, the
 * units that it has now, and the problem, which is empty if all was done.
 */
std::string change_units(const site &rules, const std::string &node, unit_action action,
			 const std::string &unit);

} // namespace kadence

#endif
