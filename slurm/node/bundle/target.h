// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the target of a job's steps. */
#ifndef KADENCE_NODE_TARGET_H
#define KADENCE_NODE_TARGET_H

#include <string>

#include "bundle/manifest.h"
#include "site/site.h"

namespace kadence
{

/*
 * Returns the target that the user named. Without a wish, returns the one that was measured fastest
 * among those faster than the plain program; if there is none, returns "none" and sets `notice`.
 * Refuses a named target that the site's rules or the bundle do not allow.
 */
std::string choose_target(const manifest &bundle, const site &rules, const std::string &wish,
			  std::string &notice);

} // namespace kadence

#endif
