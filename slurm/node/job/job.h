// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A job on this node, SPOOL/jobs/ID/ (or ID.STEP/ for a step with a bundle of its own): state.json
 * has the decisions for the job, and the folder steps/ takes the counters of its steps.
 */
#ifndef KADENCE_NODE_JOB_H
#define KADENCE_NODE_JOB_H

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "site/site.h"

namespace kadence
{

struct job_state {
	std::string job; /* Slurm's number */
	uid_t user = 0;
	std::string boot; /* boot_id() when the state was written */
	std::string bundle;
	std::string store;  /* folder of the unpacked bundle, or empty */
	std::string target; /* um, module, kexec, none */
	std::string wish;   /* the target the user named, or empty */
	std::string fallback;
	std::string refused; /* sentence, or empty */
	std::string notice;  /* sentence, or empty */
	std::string steps;   /* folder */
	std::string site;    /* the administrator's file */
	uint64_t boot_seconds = 0;
	double prepare_ms = 0;
};

/* Returns false if there is no state that can be read. */
bool read_state(const std::filesystem::path &folder, job_state &state);
void write_state(const std::filesystem::path &folder, const job_state &state);

/* Takes the lock for changes of the spool. */
descriptor lock_spool(const site &rules, int64_t deadline_ns);

/* Names of the store's folders that jobs refer to. */
std::set<std::string> bundles_in_use(const site &rules);

/* The job's folders: its own and those of its steps. */
std::vector<std::filesystem::path> folders_of(const site &rules, const std::string &job);

} // namespace kadence

#endif
