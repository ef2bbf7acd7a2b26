// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node's own kernel with the site's driver in it, for a job that has the node to itself: the
 * device is the job's user's alone, and what was there before is put back after the job.
 *
 * What was there before is in SPOOL/module.json, written before anything is changed and removed
 * when everything is back, so that whoever comes after a crash knows. After a reboot nothing of it
 * holds any more.
 */
#ifndef KADENCE_NODE_MODULE_H
#define KADENCE_NODE_MODULE_H

#include <cstdint>
#include <string>

#include "commands.h"
#include "site.h"

namespace kadence
{

/*
 * Loads the site's module for this kernel unless the driver is there, sets the administrator's
 * limit and gives the device to the job's user. A refusal where this can't be; all is as before
 * then. The caller holds the spool's lock, as for the next.
 */
void prepare_module(const site &rules, const wish &what, int64_t deadline_ns);

/*
 * Puts back what was changed for this job, or, with an empty `job`, for a job that has no folder
 * in the spool any more. Returns what was done, in a sentence that says so if it is not as it was;
 * empty if nothing was to be done.
 */
std::string restore_module(const site &rules, const std::string &job, int64_t deadline_ns);

} // namespace kadence

#endif
