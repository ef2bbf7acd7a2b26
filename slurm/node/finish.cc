// SPDX-License-Identifier: GPL-2.0-or-later
#include "finish.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/confine.h"
#include "base/file.h"
#include "job/job.h"
#include "job/leftovers.h"
#include "job/metrics.h"
#include "bundle/manifest.h"
#include "kernel/module.h"
#include "job/records.h"
#include "job/trials.h"
#include "job/verdict.h"
#include "base/refusal.h"
#include "bundle/store.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

using nlohmann::json;

const char schema_name[] = "kadence.record";
const int schema_version = 1;

int64_t deadline_of(const site &rules)
{
	return monotonic_ns() + static_cast<int64_t>(rules.prepare_seconds) * INT64_C(1000000000);
}

json describe_bundle(const job_state &state)
{
	json bundle = {{"file", state.bundle}};

	if (state.store.empty())
		return bundle;
	try {
		const json document = json::parse(read_kept_manifest(state.store));

		for (const char *key : {"name", "build_id", "measured"})
			bundle[key] = document.at(key);
	} catch (const std::exception &) {
		bundle["name"] = nullptr;
	}
	return bundle;
}

json describe(const std::string &node, const job_state &state)
{
	return {
	    {"schema", schema_name},
	    {"version", schema_version},
	    {"job", state.job},
	    {"node", node},
	    {"target", state.target},
	    {"fallback", state.fallback},
	    {"refused", state.refused},
	    {"notice", state.notice},
	    {"prepare_ms", state.prepare_ms},
	    {"bundle", describe_bundle(state)},
	};
}

/* NODE.json for the job itself, NODE.STEP.json for a step with a bundle of its own. */
std::string record_name(const std::string &node, const fs::path &folder)
{
	return node + folder.extension().string() + ".json";
}

/*
 * A job's folder after the job, once the work under the lock is done. A crash from here on loses
 * the job's record.
 */
struct ended_job {
	outcast out;
	fs::path folder; /* the job's, in `out` */
	job_state state;
	json record; /* null: the job left no state */
};

/* The caller holds the spool's lock. */
ended_job end_job(const site &rules, const std::string &node, const fs::path &folder)
{
	const size_t killed = kill_leftovers(folder);
	ended_job job;

	const std::string restored =
	    restore_module(rules, folder.filename().string(), deadline_of(rules));
	if (read_state(folder, job.state)) {
		job.record = describe(node, job.state);
		job.record["processes_killed"] = killed;
		job.record["nodestate"] = restored;
	}
	job.out = put_out(rules, folder);
	job.folder = job.out.path / folder.filename();
	return job;
}

std::string joined(const std::string &one, const std::string &other)
{
	return one.empty() || other.empty() ? one + other : one + "; " + other;
}

void keep_record(const site &rules, const std::string &node, ended_job &job)
{
	const confinement limits = {find_person(job.state.user), deadline_of(rules), 0, ""};
	const fs::path steps = job.folder / "steps";
	const fs::path records = make_records(rules, job.state, limits.whose);

	job.record["steps"] = gather_steps(steps, limits);
	job.record["notice"] = joined(job.state.notice, keep_trials(steps, records, node, limits));
	write_record(records / record_name(node, job.folder), job.record, limits);
	count_job(rules, job.state, job.record, limits.deadline_ns);
}

/* Returns what became of the job, in one line. */
std::string settle_job(const site &rules, const std::string &node, ended_job &job)
{
	std::string problem;

	try {
		keep_record(rules, node, job);
	} catch (const std::exception &error) {
		problem = "no record of job " + job.state.job + ": " + error.what();
	}
	return joined(verdict_of(job.state, job.record), problem);
}

/*
 * Runs without the lock, because the user may have filled the steps' folder. If the record fails,
 * the folder is removed all the same, so that the next job finds a clean node.
 */
std::string settle(const site &rules, const std::string &node, std::vector<ended_job> &jobs,
		   std::vector<outcast> &out)
{
	std::string told;

	for (ended_job &job : jobs) {
		if (!job.record.is_null())
			told = joined(told, settle_job(rules, node, job));
		out.push_back(std::move(job.out));
	}
	remove_all(out);
	return told;
}

bool is_stale(const fs::path &folder, const std::string &boot)
{
	job_state state;

	return !read_state(folder, state) || state.boot != boot;
}

/* The caller holds the spool's lock. */
std::vector<ended_job> end_stale(const site &rules, const std::string &node)
{
	const std::string boot = boot_id();
	std::vector<fs::path> stale;
	std::vector<ended_job> jobs;

	for (const auto &entry : fs::directory_iterator(rules.jobs()))
		if (is_stale(entry.path(), boot))
			stale.push_back(entry.path());
	for (const fs::path &folder : stale)
		jobs.push_back(end_job(rules, node, folder));
	restore_module(rules, "", deadline_of(rules));
	return jobs;
}

} // namespace

std::string finish(const site &rules, const std::string &node, const std::string &job)
{
	std::vector<ended_job> jobs;
	std::vector<outcast> out;

	if (folders_of(rules, job).empty())
		return {};
	{
		const descriptor lock = lock_spool(rules, deadline_of(rules));

		for (const fs::path &folder : folders_of(rules, job))
			jobs.push_back(end_job(rules, node, folder));
		out = trim_store(rules, bundles_in_use(rules));
	}
	return settle(rules, node, jobs, out);
}

void sweep(const site &rules, const std::string &node)
{
	std::vector<ended_job> jobs;
	std::vector<outcast> out;

	make_spool(rules);
	{
		const descriptor lock = lock_spool(rules, deadline_of(rules));

		jobs = end_stale(rules, node);
		out = trim_store(rules, bundles_in_use(rules));
	}
	const std::string told = settle(rules, node, jobs, out);
	if (!told.empty())
		std::cerr << "kadence: left by a crash: " << told << '\n';
}

} // namespace kadence
