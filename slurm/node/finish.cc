// SPDX-License-Identifier: GPL-2.0-or-later
#include "finish.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "confine.h"
#include "file.h"
#include "job.h"
#include "leftovers.h"
#include "manifest.h"
#include "module.h"
#include "records.h"
#include "refusal.h"
#include "store.h"

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

void keep_record(const site &rules, const std::string &node, const fs::path &folder,
		 const job_state &state, size_t killed, const std::string &restored)
{
	const confinement limits = {find_person(state.user), deadline_of(rules), 0, ""};
	json record = describe(node, state);

	record["steps"] = gather_steps(folder / "steps", limits);
	record["processes_killed"] = killed;
	record["nodestate"] = restored;
	write_record(rules, record_name(node, folder), state, record, limits);
}

/* The folder goes whatever happens to the record: the next job is worth more. */
void finish_folder(const site &rules, const std::string &node, const fs::path &folder)
{
	const size_t killed = kill_leftovers(folder);
	const std::string restored =
	    restore_module(rules, folder.filename().string(), deadline_of(rules));
	job_state state;

	if (read_state(folder, state)) {
		try {
			keep_record(rules, node, folder, state, killed, restored);
		} catch (const std::exception &error) {
			std::cerr << "kadence: no record of job " << state.job << ": "
				  << error.what() << '\n';
		}
	}
	fs::remove_all(folder);
}

bool is_stale(const fs::path &folder, const std::string &boot)
{
	job_state state;

	return !read_state(folder, state) || state.boot != boot;
}

} // namespace

void finish(const site &rules, const std::string &node, const std::string &job)
{
	if (folders_of(rules, job).empty())
		return;
	const descriptor lock = lock_spool(rules, deadline_of(rules));
	for (const fs::path &folder : folders_of(rules, job))
		finish_folder(rules, node, folder);
	trim_store(rules, bundles_in_use(rules));
}

void finish_stale(const site &rules, const std::string &node)
{
	const std::string boot = boot_id();
	std::vector<fs::path> stale;

	for (const auto &entry : fs::directory_iterator(rules.jobs()))
		if (is_stale(entry.path(), boot))
			stale.push_back(entry.path());
	for (const fs::path &folder : stale)
		finish_folder(rules, node, folder);
	restore_module(rules, "", deadline_of(rules));
}

void sweep(const site &rules, const std::string &node)
{
	make_spool(rules);
	const descriptor lock = lock_spool(rules, deadline_of(rules));
	finish_stale(rules, node);
	trim_store(rules, bundles_in_use(rules));
}

} // namespace kadence
