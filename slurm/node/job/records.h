// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns the notes that steps left in their job's folder into the record RECORDS/ID/NODE.json. */
#ifndef KADENCE_NODE_RECORDS_H
#define KADENCE_NODE_RECORDS_H

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/confine.h"
#include "job/job.h"
#include "site/site.h"

namespace kadence
{

/*
 * Returns an array with an object for each task, which joins KEY.task.json (from the SPANK plugin),
 * KEY.json (from the step) and KEY.counters (libkadapt's lines). Reads them as the user.
 */
nlohmann::json gather_steps(const std::filesystem::path &folder, const confinement &limits);

/* Makes the folder for the records of a job, which is the user's own, and returns it. */
std::filesystem::path make_records(const site &rules, const job_state &state, const person &whose);

/* Writes the record of one of the job's folders; only the user may read it. */
void write_record(const std::filesystem::path &path, const nlohmann::json &record,
		  const confinement &limits);

} // namespace kadence

#endif
