// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/job.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/refusal.h"
#include "bundle/store.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

using nlohmann::json;

const char schema_name[] = "kadence.job";
const int schema_version = 1;
const uint64_t largest_state = 1 << 20;

job_state from_json(const json &document)
{
	job_state state;

	state.job = document.at("job").get<std::string>();
	state.user = document.at("uid").get<uid_t>();
	state.boot = document.at("boot_id").get<std::string>();
	state.bundle = document.at("bundle").get<std::string>();
	state.store = document.at("store").get<std::string>();
	state.target = document.at("target").get<std::string>();
	state.wish = document.at("wish").get<std::string>();
	state.fallback = document.at("fallback").get<std::string>();
	state.refused = document.at("refused").get<std::string>();
	state.notice = document.at("notice").get<std::string>();
	state.steps = document.at("steps").get<std::string>();
	state.site = document.at("site").get<std::string>();
	state.boot_seconds = document.at("boot_seconds").get<uint64_t>();
	state.prepare_ms = document.at("prepare_ms").get<double>();
	return state;
}

json to_json(const job_state &state)
{
	return {
	    {"schema", schema_name},
	    {"version", schema_version},
	    {"job", state.job},
	    {"uid", state.user},
	    {"boot_id", state.boot},
	    {"bundle", state.bundle},
	    {"store", state.store},
	    {"target", state.target},
	    {"wish", state.wish},
	    {"fallback", state.fallback},
	    {"refused", state.refused},
	    {"notice", state.notice},
	    {"steps", state.steps},
	    {"site", state.site},
	    {"boot_seconds", state.boot_seconds},
	    {"prepare_ms", state.prepare_ms},
	};
}

} // namespace

bool read_state(const fs::path &folder, job_state &state)
{
	try {
		const json document = json::parse(read_file(folder / "state.json", largest_state));

		if (document.at("schema") != schema_name ||
		    document.at("version") != schema_version)
			return false;
		state = from_json(document);
		return true;
	} catch (const json::exception &) {
		return false;
	} catch (const refusal &) {
		return false;
	}
}

void write_state(const fs::path &folder, const job_state &state)
{
	/* A path need not be UTF-8: other bytes are replaced, so that dump() does not throw. */
	write_atomically(folder / "state.json",
			 to_json(state).dump(1, ' ', false, json::error_handler_t::replace) + "\n",
			 0600);
	grant_read(folder / "state.json", state.user);
}

descriptor lock_spool(const site &rules, int64_t deadline_ns)
{
	return lock_file(rules.spool / "lock", deadline_ns);
}

std::set<std::string> bundles_in_use(const site &rules)
{
	std::set<std::string> names;
	job_state state;

	for (const auto &entry : fs::directory_iterator(rules.jobs()))
		if (read_state(entry.path(), state) && !state.store.empty())
			names.insert(kept_name(state.store));
	return names;
}

std::vector<fs::path> folders_of(const site &rules, const std::string &job)
{
	std::vector<fs::path> folders;
	std::error_code none_yet;

	for (const auto &entry : fs::directory_iterator(rules.jobs(), none_yet))
		if (entry.path().stem() == job)
			folders.push_back(entry.path());
	return folders;
}

} // namespace kadence
