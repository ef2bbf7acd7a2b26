// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether this node is fit for jobs, for Slurm's HealthCheckProgram and for people. */
#ifndef KADENCE_NODE_HEALTH_H
#define KADENCE_NODE_HEALTH_H

#include <ostream>

#include "site/site.h"

namespace kadence
{

/*
 * Prints a line for each thing that a job here needs. Then refuses, with the number of problems, if
 * there are any. Changes nothing.
 */
void check_node(const site &rules, std::ostream &out);

} // namespace kadence

#endif
