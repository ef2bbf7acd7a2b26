// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/metrics.h"

#include <cstdio>
#include <string>

#include "job/verdict.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

using nlohmann::json;

const uint64_t largest_counters = 1 << 20;

/* One family of the text: its name without _total, its help, and its label. */
struct family {
	const char *name;
	const char *help;
	const char *label;
};

const family families[] = {
    {"kadence_jobs", "Jobs with a bundle that ended on this node.", "target"},
    {"kadence_jobs_refused", "Of these, jobs whose bundle the node refused.", "target"},
    {"kadence_tasks", "Tasks of these jobs.", "target"},
    {"kadence_tasks_adapted", "Of these, tasks that ran the bundle's program.", "target"},
    {"kadence_prepare_seconds", "Time that preparing the node took.", "target"},
    {"kadence_processes_killed", "Processes that jobs left behind.", "target"},
};

/* One that cannot be read begins at 0 again, as after the loss of the spool. */
json read_counters(const fs::path &path)
{
	try {
		const json found = json::parse(read_file(path, largest_counters));

		return found.is_object() ? found : json::object();
	} catch (const std::exception &) {
		return json::object();
	}
}

void add(json &counters, const char *name, const std::string &label, double more)
{
	json &value = counters[name][label];

	value = (value.is_number() ? value.get<double>() : 0) + more;
}

std::string number(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.12g", value);
	return text;
}

std::string text_of(const json &counters)
{
	std::string text;

	for (const family &each : families) {
		text += std::string("# TYPE ") + each.name + " counter\n# HELP " + each.name + " " +
			each.help + "\n";
		if (!counters.contains(each.name))
			continue;
		for (const auto &[label, value] : counters.at(each.name).items())
			text += std::string(each.name) + "_total{" + each.label + "=\"" + label +
				"\"} " + number(value.get<double>()) + "\n";
	}
	return text + "# EOF\n";
}

} // namespace

void count_job(const site &rules, const job_state &state, const json &record, int64_t deadline_ns)
{
	const fs::path kept = rules.spool / "counters.json";
	const step_counts steps = count_steps(record);

	if (rules.metrics.empty())
		return;
	const descriptor lock = lock_file(rules.spool / "counters.lock", deadline_ns);
	json counters = read_counters(kept);

	/* The target is one of our own words; nothing else that a user wrote becomes a label. */
	add(counters, "kadence_jobs", state.target, 1);
	add(counters, "kadence_jobs_refused", state.target, state.refused.empty() ? 0 : 1);
	add(counters, "kadence_tasks", state.target, static_cast<double>(steps.all));
	add(counters, "kadence_tasks_adapted", state.target, static_cast<double>(steps.adapted));
	add(counters, "kadence_prepare_seconds", state.target, state.prepare_ms / 1000);
	add(counters, "kadence_processes_killed", state.target,
	    record.value("processes_killed", 0.0));
	write_atomically(kept, counters.dump(), 0600);
	write_atomically(rules.metrics, text_of(counters), 0644);
}

} // namespace kadence
