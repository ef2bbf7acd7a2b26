// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/module.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/file.h"
#include "job/job.h"
#include "kernel/kernel_module.h"
#include "kernel/site_units.h"
#include "kernel/units.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

using nlohmann::json;

const char schema_name[] = "kadence.module";
const int schema_version = 1;
const uint64_t largest_note = 1 << 16;
const mode_t users_alone = 0600;

/* The node's state before the job. */
struct node_before {
	std::string job; /* the job for which the node was changed */
	std::string boot;
	bool was_there = false; /* the driver; if false, the next two mean nothing */
	uint64_t limit_ns = 0;
	device_access device;
	std::vector<std::string> units; /* those that are installed for the job */
};

fs::path note_of(const site &rules)
{
	return rules.spool / "module.json";
}

json to_json(const node_before &before)
{
	return {
	    {"schema", schema_name},
	    {"version", schema_version},
	    {"job", before.job},
	    {"boot_id", before.boot},
	    {"was_there", before.was_there},
	    {"limit_ns", before.limit_ns},
	    {"owner", before.device.owner},
	    {"group", before.device.group},
	    {"mode", before.device.mode},
	    {"device", before.device.exists},
	    {"units", before.units},
	};
}

/* Returns false if there is no note of this boot. */
bool read_note(const site &rules, node_before &before)
{
	try {
		const json note = json::parse(read_file(note_of(rules), largest_note));

		if (note.at("schema") != schema_name || note.at("version") != schema_version)
			return false;
		before.job = note.at("job").get<std::string>();
		before.boot = note.at("boot_id").get<std::string>();
		before.was_there = note.at("was_there").get<bool>();
		before.limit_ns = note.at("limit_ns").get<uint64_t>();
		before.device = {note.at("owner").get<uid_t>(), note.at("group").get<gid_t>(),
				 note.at("mode").get<mode_t>(), note.at("device").get<bool>()};
		before.units = note.at("units").get<std::vector<std::string>>();
	} catch (const json::exception &) {
		return false;
	} catch (const refusal &) {
		return false;
	}
	return before.boot == boot_id();
}

void forget(const site &rules)
{
	unlink(note_of(rules).c_str());
}

node_before observe(const std::string &job)
{
	node_before before;

	before.job = job;
	before.boot = boot_id();
	before.was_there = driver_is_there();
	if (before.was_there) {
		before.limit_ns = driver_limit_ns();
		before.device = read_device();
	}
	return before;
}

bool is_same(const device_access &one, const device_access &other)
{
	return one.exists == other.exists && one.owner == other.owner && one.group == other.group &&
	       one.mode == other.mode;
}

/* Returns what is not as before the job, or empty. */
std::string difference(const node_before &before)
{
	for (const std::string &unit : before.units)
		if (has_unit(unit))
			return "unit " + unit + " is still installed";
	if (driver_is_there() != before.was_there)
		return before.was_there ? "the driver is gone" : "the driver is still loaded";
	if (!is_same(read_device(), before.device))
		return "/dev/kadapt has another owner or mode, or is still there";
	if (!before.was_there)
		return {};
	if (driver_users() != 0)
		return "the driver is still in use";
	return driver_limit_ns() == before.limit_ns ? "" : "the driver has another quantum_max_ns";
}

/* Keeps new users out while the driver becomes idle. */
void close_device()
{
	if (read_device().exists)
		set_device({0, 0, 0600, true});
}

void put_back(const node_before &before, int64_t deadline_ns)
{
	close_device();
	await_idle_driver(deadline_ns);
	for (const std::string &unit : before.units)
		unload_unit(unit, deadline_ns);
	if (!before.was_there) {
		unload_driver(deadline_ns);
		return;
	}
	set_driver_limit(before.limit_ns);
	if (before.device.exists)
		set_device(before.device);
}

std::string describe(const node_before &before)
{
	return before.was_there
		   ? "the driver was there before the job, and is idle, with its device as it was"
		   : "the driver was loaded for the job, and is gone with its device";
}

std::string restore(const site &rules, const node_before &before, int64_t deadline_ns)
{
	std::string problem;

	try {
		put_back(before, deadline_ns);
		problem = difference(before);
	} catch (const refusal &error) {
		problem = error.what();
	}
	/* The note stays until all is restored. */
	if (!problem.empty())
		return "the node is not as it was before job " + before.job + ": " + problem;
	forget(rules);
	return describe(before);
}

/* An earlier job's epilog may not have restored the node. */
void require_clean(const site &rules, int64_t deadline_ns)
{
	node_before earlier;

	if (!read_note(rules, earlier))
		return;
	restore(rules, earlier, deadline_ns);
	if (read_note(rules, earlier))
		throw refusal("this node's driver is still in use after job " + earlier.job +
			      " ended");
}

void take(const site &rules, const wish &what, const std::string &module)
{
	if (!module.empty())
		load_driver(module, rules.largest_quantum_ns);
	else
		set_driver_limit(rules.largest_quantum_ns);
	if (!read_device().exists)
		throw refusal("the driver is loaded, but this node has no /dev/kadapt");
	set_device({what.user, 0, users_alone, true});
}

} // namespace

std::string prepare_module(const site &rules, const wish &what,
			   const std::vector<bundled_unit> &units, int64_t deadline_ns)
{
	node_before before;
	std::string without;

	if (!what.exclusive)
		throw refusal("targets module and kexec are for jobs that have the node to "
			      "themselves; "
			      "submit with --exclusive");
	if (read_note(rules, before) && before.job == what.job)
		return {};
	require_clean(rules, deadline_ns);
	before = observe(what.job);
	if (before.was_there && driver_users() != 0)
		throw refusal("the driver on this node is in use by others");
	/* Read and verify all modules before the first change. */
	const std::string module = before.was_there ? "" : site_driver(rules);
	const std::vector<signed_unit> installable = site_units(rules, units, without);
	for (const signed_unit &unit : installable)
		before.units.push_back(unit.name);
	write_atomically(note_of(rules), to_json(before).dump(1) + "\n", 0600);
	try {
		take(rules, what, module);
	} catch (const refusal &) {
		restore(rules, before, deadline_ns);
		throw;
	}
	install(installable, deadline_ns, without);
	return without;
}

std::string job_of_module(const site &rules)
{
	node_before before;

	return read_note(rules, before) ? before.job : std::string();
}

std::string restore_module(const site &rules, const std::string &job, int64_t deadline_ns)
{
	node_before before;

	if (!read_note(rules, before)) {
		forget(rules); /* the note is of an earlier boot, or damaged */
		return {};
	}
	const bool is_meant =
	    job.empty() ? folders_of(rules, before.job).empty() : job == before.job;
	return is_meant ? restore(rules, before, deadline_ns) : "";
}

} // namespace kadence
