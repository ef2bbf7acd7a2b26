// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/records.h"

#include <cerrno>
#include <fcntl.h>
#include <map>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

using nlohmann::json;

const uint64_t largest_step = 256 << 10;
const uint64_t largest_steps = UINT64_C(16) << 20;
const char task_ending[] = ".task.json";
const char step_ending[] = ".json";
const char counters_ending[] = ".counters";
const char trials_ending[] = ".trials";

bool ends_with(const std::string &text, const std::string &ending)
{
	return text.size() > ending.size() &&
	       text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

/* Returns empty for anything but a regular file: a link may lead anywhere. */
std::string read_step_file(const fs::path &path)
{
	const descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	struct stat status;

	if (file.get() < 0 || fstat(file.get(), &status) || !S_ISREG(status.st_mode) ||
	    static_cast<uint64_t>(status.st_size) > largest_step)
		return {};
	return read_all(file.get(), largest_step, path.string());
}

/* Reads one line for each process; skips a line that is not JSON, left by a killed process. */
json counters_of(const std::string &text)
{
	json lines = json::array();
	std::istringstream source(text);
	std::string line;

	while (std::getline(source, line)) {
		json one = json::parse(line, nullptr, false);
		if (!one.is_discarded())
			lines.push_back(std::move(one));
	}
	return lines;
}

void add_file(std::map<std::string, json> &tasks, const std::string &name, const std::string &text)
{
	for (const std::string ending : {task_ending, step_ending, counters_ending}) {
		if (!ends_with(name, ending))
			continue;
		json &task = tasks[name.substr(0, name.size() - ending.size())];
		if (task.is_null())
			task = json::object();
		if (ending == counters_ending) {
			task["counters"] = counters_of(text);
		} else {
			const json one = json::parse(text, nullptr, false);
			if (one.is_object())
				task.update(one);
		}
		return;
	}
}

std::string gather_as_user(const fs::path &folder)
{
	std::map<std::string, json> tasks;
	json result = json::array();
	uint64_t total = 0;

	for (const auto &entry : fs::directory_iterator(folder)) {
		if (entry.path().extension() == trials_ending)
			continue; /* keep_trials() has them */
		const std::string text = read_step_file(entry.path());

		total += text.size();
		if (total > largest_steps)
			throw refusal("the steps left more than can be kept");
		add_file(tasks, entry.path().filename().string(), text);
	}
	for (const auto &[key, task] : tasks)
		result.push_back(task);
	return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

json gather_steps(const fs::path &folder, const confinement &limits)
{
	try {
		return json::parse(confine(limits, [&] { return gather_as_user(folder); }));
	} catch (const std::exception &) {
		return json::array();
	}
}

fs::path make_records(const site &rules, const job_state &state, const person &whose)
{
	const fs::path folder = rules.records / state.job;
	std::error_code error;

	fs::create_directories(rules.records, error);
	if (mkdir(folder.c_str(), 0700) && errno != EEXIST)
		refuse_errno("cannot make " + folder.string());
	/* Another node of the job may have made the folder. */
	if (lchown(folder.c_str(), whose.user, whose.group))
		refuse_errno("cannot give " + folder.string() + " to its user");
	return folder;
}

void write_record(const fs::path &path, const json &record, const confinement &limits)
{
	const std::string text = record.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
	confinement wide = limits;

	wide.largest_file = text.size();
	confine(wide, [&] {
		write_atomically(path, text, 0600);
		return std::string();
	});
}

} // namespace kadence
