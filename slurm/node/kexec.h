// SPDX-License-Identifier: GPL-2.0-or-later
/* The site's own kernels as a node's kernel. They are named by the configuration they were built
 * from, which is how bundles name them. */
#ifndef KADENCE_NODE_KEXEC_H
#define KADENCE_NODE_KEXEC_H

#include <string>

#include "site.h"

namespace kadence
{

/* The site's kernel that runs here, or empty where another does. */
std::string running_kernel();

/* A refusal unless this one runs. */
void require_kernel(const std::string &id);

/* Verifies a kernel of the site's and loads it; whoever calls `kexec -e` afterwards starts it. */
void load_kernel(const site &rules, const std::string &id);

} // namespace kadence

#endif
