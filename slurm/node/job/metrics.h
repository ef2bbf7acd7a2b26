// SPDX-License-Identifier: GPL-2.0-or-later
/* The node's counters, as OpenMetrics text for node_exporter's textfile collector. */
#ifndef KADENCE_NODE_METRICS_H
#define KADENCE_NODE_METRICS_H

#include <nlohmann/json.hpp>

#include "job/job.h"
#include "site/site.h"

namespace kadence
{

/*
 * Adds an ended job to the counters in the spool, and writes the site's metrics file. Does nothing
 * if the site names none. The caller does not hold the spool's lock.
 */
void count_job(const site &rules, const job_state &state, const nlohmann::json &record,
	       int64_t deadline_ns);

} // namespace kadence

#endif
