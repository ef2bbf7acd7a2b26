// SPDX-License-Identifier: GPL-2.0-or-later
/* What became of a job on this node, in one line for logs and for Slurm's accounting. */
#ifndef KADENCE_NODE_VERDICT_H
#define KADENCE_NODE_VERDICT_H

#include <nlohmann/json.hpp>
#include <string>

#include "job/job.h"

namespace kadence
{

/* How many steps a record has, and how many of them ran the bundle's program. */
struct step_counts {
	size_t all = 0;
	size_t adapted = 0;
};

step_counts count_steps(const nlohmann::json &record);

/* The decision: target, bundle and reason, on one line of visible characters. */
std::string decision_of(const job_state &state);

/* The decision, and what the job's steps did. */
std::string verdict_of(const job_state &state, const nlohmann::json &record);

} // namespace kadence

#endif
