// SPDX-License-Identifier: GPL-2.0-or-later
/* Cleans up after a job, however it ended. */
#ifndef KADENCE_NODE_FINISH_H
#define KADENCE_NODE_FINISH_H

#include <string>

#include "site/site.h"

namespace kadence
{

/*
 * Gathers the counters of the job's steps into the site's records, restores the node and removes
 * the job's folders. Returns what became of the job in one line; empty, and nothing done, for a job
 * that is not known here.
 */
std::string finish(const site &rules, const std::string &node, const std::string &job);

/* Does so for jobs of an earlier boot, and for the folders of a prolog that did not finish. */
void sweep(const site &rules, const std::string &node);

} // namespace kadence

#endif
