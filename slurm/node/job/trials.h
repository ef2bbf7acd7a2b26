// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the records of trials that a job's steps left beside the job's other records. */
#ifndef KADENCE_NODE_TRIALS_H
#define KADENCE_NODE_TRIALS_H

#include <filesystem>
#include <string>

#include "base/confine.h"

namespace kadence
{

/*
 * Copies STEP.trials of `folder` to NODE.STEP.trials of `records`, as the user. Returns a sentence
 * about the files that were not kept, or nothing.
 */
std::string keep_trials(const std::filesystem::path &folder, const std::filesystem::path &records,
			const std::string &node, const confinement &limits);

} // namespace kadence

#endif
