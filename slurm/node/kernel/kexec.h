// SPDX-License-Identifier: GPL-2.0-or-later
/* The site's kernels in place of a node's own. Each is named by the ID of the configuration that it
 * was built from; bundles use the same name. */
#ifndef KADENCE_NODE_KEXEC_H
#define KADENCE_NODE_KEXEC_H

#include <string>

#include "site/site.h"

namespace kadence
{

/* The name of the site's kernel that runs here; empty if another kernel runs. */
std::string running_kernel();

/* Refuses unless this kernel runs. */
void require_kernel(const std::string &id);

/* Refuses what load_kernel() would refuse before it asks the system. */
void verify_kernel(const site &rules, const std::string &id);

/* Verifies a kernel of the site's store and loads it. `kexec -e` then starts it. */
void load_kernel(const site &rules, const std::string &id);

} // namespace kadence

#endif
