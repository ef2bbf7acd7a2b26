// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/site_units.h"

#include <filesystem>
#include <sys/utsname.h>

#include "base/refusal.h"
#include "kernel/units.h"
#include "site/site_store.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

std::string running_release()
{
	utsname names;

	uname(&names);
	return names.release;
}

site_folder folder_of(const site &rules, const std::string &name)
{
	return site_folder(rules, fs::path("units") / running_release() / name);
}

void add(std::string &text, const std::string &sentence)
{
	text += (text.empty() ? "" : "; ") + sentence;
}

/* A unit that a user changed after the administrator built it is another unit. */
signed_unit same_unit(const site &rules, const bundled_unit &unit)
{
	if (folder_of(rules, unit.name).text("source") != unit.sha256)
		throw refusal("the site has another version of unit " + unit.name +
			      "; the administrator builds it with `kadence site build --unit`");
	return site_unit(rules, unit.name);
}

} // namespace

std::string site_driver(const site &rules)
{
	return site_folder(rules, fs::path("modules") / running_release()).read("kadapt.ko");
}

signed_unit site_unit(const site &rules, const std::string &name)
{
	return {name, folder_of(rules, name).read(name + ".ko")};
}

std::vector<signed_unit> site_units(const site &rules, const std::vector<bundled_unit> &units,
				    std::string &without)
{
	std::vector<signed_unit> found;

	for (const bundled_unit &unit : units) {
		if (has_unit(unit.name))
			continue;
		try {
			found.push_back(same_unit(rules, unit));
		} catch (const refusal &problem) {
			add(without, "without unit " + unit.name + ", because " + problem.what());
		}
	}
	return found;
}

void install(const std::vector<signed_unit> &units, int64_t deadline_ns, std::string &without)
{
	for (const signed_unit &unit : units) {
		try {
			load_unit(unit.name, unit.bytes, deadline_ns);
		} catch (const refusal &problem) {
			add(without, "without unit " + unit.name + ", because " + problem.what());
		}
	}
}

} // namespace kadence
