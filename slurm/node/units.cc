// SPDX-License-Identifier: GPL-2.0-or-later
#include "units.h"

#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/refusal.h"
#include "bundle/store.h"
#include "job/job.h"
#include "kernel/kernel_module.h"
#include "kernel/module.h"
#include "kernel/site_units.h"
#include "kernel/units.h"

namespace kadence
{

namespace
{

using nlohmann::json;

const mode_t roots_alone = 0600;

/* The device is closed to users until a job's prolog gives it to the job's user. */
void load_closed_driver(const site &rules)
{
	load_driver(site_driver(rules), rules.largest_quantum_ns);
	if (read_device().exists)
		set_device({0, 0, roots_alone, true});
}

void install_unit(const site &rules, const std::string &name, int64_t deadline_ns)
{
	const std::string job = job_of_module(rules);
	const signed_unit unit = site_unit(rules, name);

	if (has_unit(name))
		throw refusal("unit " + name + " is installed already");
	/* The job's epilog would unload the driver under the unit. */
	if (!job.empty())
		throw refusal("job " + job +
			      " has this node's driver; install units when it has "
			      "ended");
	if (needs_driver(unit.bytes) && !driver_is_there())
		load_closed_driver(rules);
	load_unit(name, unit.bytes, deadline_ns);
}

void remove_unit(const std::string &name, int64_t deadline_ns)
{
	if (!has_unit(name))
		throw refusal("unit " + name + " is not installed");
	unload_unit(name, deadline_ns);
}

std::string problem_of(const site &rules, unit_action action, const std::string &unit)
{
	const int64_t deadline_ns =
	    monotonic_ns() + static_cast<int64_t>(rules.prepare_seconds) * INT64_C(1000000000);

	try {
		if (action == unit_action::none)
			return {};
		make_spool(rules);
		const descriptor lock = lock_spool(rules, deadline_ns);
		if (action == unit_action::install)
			install_unit(rules, unit, deadline_ns);
		else
			remove_unit(unit, deadline_ns);
	} catch (const std::exception &error) {
		return error.what();
	}
	return {};
}

json listed_units()
{
	json units = json::array();

	for (const running_unit &unit : running_units())
		units.push_back({{"name", unit.name},
				 {"takers", unit.for_everybody ? "everybody" : "phases"},
				 {"functions", unit.functions}});
	return units;
}

} // namespace

std::string change_units(const site &rules, const std::string &node, unit_action action,
			 const std::string &unit)
{
	const std::string problem = problem_of(rules, action, unit);
	utsname names;

	uname(&names);
	return json{{"node", node},
		    {"kernel", names.release},
		    {"units", listed_units()},
		    {"problem", problem}}
	    .dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace kadence
