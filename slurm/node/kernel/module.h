// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts the site's driver into the node's own kernel, for a job that has the node to itself. Only
 * the job's user may open the device. After the job, the node's earlier state is restored.
 *
 * That state is in SPOOL/module.json: it is written before the first change and removed when all is
 * restored, so that a crash loses nothing. After a reboot it does not hold any more.
 */
#ifndef KADENCE_NODE_MODULE_H
#define KADENCE_NODE_MODULE_H

#include <cstdint>
#include <string>

#include "job/wish.h"
#include "site/site.h"

namespace kadence
{

/*
 * Loads the site's module for this kernel unless the driver is there, sets the administrator's
 * limit and gives the device to the job's user. If it refuses, the node is as before. The caller
 * holds the spool's lock, as for restore_module().
 */
void prepare_module(const site &rules, const wish &what, int64_t deadline_ns);

/*
 * Undoes the changes for this job or, with an empty `job`, those for a job that has no folder in
 * the spool any more. Returns a sentence on the node's state, which also tells if the node is not
 * as before; empty if there was nothing to undo.
 */
std::string restore_module(const site &rules, const std::string &job, int64_t deadline_ns);

} // namespace kadence

#endif
