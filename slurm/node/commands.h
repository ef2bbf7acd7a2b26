// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of kadence-node. */
#ifndef KADENCE_NODE_COMMANDS_H
#define KADENCE_NODE_COMMANDS_H

#include <string>

#include "job/wish.h"
#include "site/site.h"

namespace kadence
{

/* Verifies a bundle for this machine and these rules without unpacking it, or refuses it. */
void check(const site &rules, const std::string &bundle, const std::string &target);

/* Verifies a bundle and returns the name of the site's kernel that it wants, or refuses it. */
std::string kernel_of(const site &rules, const std::string &bundle);

/*
 * Prepares the node for a job and writes the decisions down, also if it refuses the bundle. Does
 * nothing if that was done for this job with the same wish. Returns the job's folder.
 */
std::string prepare(const site &rules, const wish &what);

} // namespace kadence

#endif
