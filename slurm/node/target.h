// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kernel a job's steps get. */
#ifndef KADENCE_NODE_TARGET_H
#define KADENCE_NODE_TARGET_H

#include <string>

#include "manifest.h"
#include "site.h"

namespace kadence
{

/*
 * The target that the user named, or without a wish the one that was measured to be faster than
 * the plain program, by the most; "none" where there is none, with `notice` saying so. What the
 * site's rules or the bundle don't allow is a refusal.
 */
std::string choose_target(const manifest &bundle, const site &rules, const std::string &wish,
			  std::string &notice);

} // namespace kadence

#endif
