// SPDX-License-Identifier: GPL-2.0-or-later
/* What comes after a job, however it ended. */
#ifndef KADENCE_NODE_FINISH_H
#define KADENCE_NODE_FINISH_H

#include <string>

#include "site.h"

namespace kadence
{

/*
 * Gathers what the job's steps counted into the site's records, restores the node and removes all
 * of the job. Of a job that is not known here nothing is to be done.
 */
void finish(const site &rules, const std::string &node, const std::string &job);

/* Does so for jobs of an earlier boot, and for folders of a prolog that did not come to an end. */
void sweep(const site &rules, const std::string &node);

} // namespace kadence

#endif
