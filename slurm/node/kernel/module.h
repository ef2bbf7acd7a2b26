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
#include <vector>

#include "bundle/manifest.h"
#include "job/wish.h"
#include "site/site.h"

namespace kadence
{

/*
 * Loads the site's module for this kernel unless the driver is there, sets the administrator's
 * limit and gives the device to the job's user. Installs those of the units that the site has
 * signed and that are not there. If it refuses, the node is as before. Returns a sentence on the
 * units that the job has to do without, or an empty text. The caller holds the spool's lock, as for
 * restore_module().
 */
std::string prepare_module(const site &rules, const wish &what,
			   const std::vector<bundled_unit> &units, int64_t deadline_ns);

/* The job for which the driver was changed and not restored yet, or empty. */
std::string job_of_module(const site &rules);

/*
 * Undoes the changes for this job or, with an empty `job`, those for a job that has no folder in
 * the spool any more. Returns a sentence on the node's state, which also tells if the node is not
 * as before; empty if there was nothing to undo.
 */
std::string restore_module(const site &rules, const std::string &job, int64_t deadline_ns);

} // namespace kadence

#endif
