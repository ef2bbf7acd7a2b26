// SPDX-License-Identifier: GPL-2.0-or-later
#include "site/site.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "base/refusal.h"

namespace kadence
{

namespace
{

/* No sensible value is larger, and this many seconds still fit into 64 bits of nanoseconds. */
const int64_t largest_number = 1 << 30;

[[noreturn]] void refuse_key(const site &result, std::string_view key, const toml::node &value,
			     const std::string &expected)
{
	throw refusal(result.file.string() + ", line " + std::to_string(value.source().begin.line) +
		      ": " + std::string(key) + " must be " + expected);
}

using reader = std::function<void(site &, std::string_view, const toml::node &)>;

/* Text that is empty, if it may be, stands for no path. */
reader path_of(std::filesystem::path site::*field, bool may_be_empty = false)
{
	return [=](site &result, std::string_view key, const toml::node &value) {
		const auto text = value.value_exact<std::string>();

		if (!text || (text->empty() ? !may_be_empty : text->front() != '/'))
			refuse_key(result, key, value, "an absolute path");
		result.*field = *text;
	};
}

reader number_of(uint64_t site::*field, uint64_t unit)
{
	return [field, unit](site &result, std::string_view key, const toml::node &value) {
		const auto number = value.value_exact<int64_t>();

		if (!number || *number < 1 || *number > largest_number)
			refuse_key(result, key, value, "a whole number above 0");
		result.*field = static_cast<uint64_t>(*number) * unit;
	};
}

reader truth_of(bool site::*field)
{
	return [field](site &result, std::string_view key, const toml::node &value) {
		const auto truth = value.value_exact<bool>();

		if (!truth)
			refuse_key(result, key, value, "true or false");
		result.*field = *truth;
	};
}

/* If `choices` is empty, any text is valid. */
reader names_of(std::vector<std::string> site::*field, const std::vector<std::string> &choices)
{
	return [field, choices](site &result, std::string_view key, const toml::node &value) {
		const auto refuse = [&](const toml::node &wrong) {
			refuse_key(result, key, wrong,
				   choices.empty() ? "a list of names"
						   : "a list of um, module and kexec");
		};
		std::vector<std::string> names;

		if (!value.is_array())
			refuse(value);
		for (const toml::node &element : *value.as_array()) {
			const auto name = element.value_exact<std::string>();

			if (!name || (!choices.empty() && std::find(choices.begin(), choices.end(),
								    *name) == choices.end()))
				refuse(element);
			names.push_back(*name);
		}
		result.*field = names;
	};
}

void read_signatures(site &result, std::string_view key, const toml::node &value)
{
	const auto text = value.value_exact<std::string>();

	if (!text || (*text != "required" && *text != "optional"))
		refuse_key(result, key, value, "\"required\" or \"optional\"");
	result.signatures_required = *text == "required";
}

const std::map<std::string_view, reader> &readers()
{
	static const std::map<std::string_view, reader> table = {
	    {"targets", names_of(&site::targets, {"um", "module", "kexec"})},
	    {"users", names_of(&site::users, {})},
	    {"key_ring", path_of(&site::key_ring)},
	    {"signatures", read_signatures},
	    {"mitigations_off", truth_of(&site::mitigations_off)},
	    {"spool", path_of(&site::spool)},
	    {"records", path_of(&site::records)},
	    {"store", path_of(&site::store)},
	    {"site_key", path_of(&site::site_key)},
	    {"metrics", path_of(&site::metrics, true)},
	    {"largest_bundle_mib", number_of(&site::largest_bundle, 1 << 20)},
	    {"largest_unpacked_mib", number_of(&site::largest_unpacked, 1 << 20)},
	    {"largest_store_mib", number_of(&site::largest_store, 1 << 20)},
	    {"largest_quantum_ms", number_of(&site::largest_quantum_ns, 1000000)},
	    {"prepare_seconds", number_of(&site::prepare_seconds, 1)},
	    {"boot_seconds", number_of(&site::boot_seconds, 1)},
	};
	return table;
}

void name_node(std::filesystem::path &path, const std::string &node)
{
	std::string text = path.string();
	const size_t place = text.find("%n");

	if (place != std::string::npos)
		path = text.replace(place, 2, node);
}

} // namespace

bool site::allows_target(const std::string &target) const
{
	return std::find(targets.begin(), targets.end(), target) != targets.end();
}

bool site::allows_user(const std::string &user) const
{
	return std::any_of(users.begin(), users.end(),
			   [&](const std::string &name) { return name == "*" || name == user; });
}

site read_site(const std::filesystem::path &file, const std::string &node)
{
	site result;

	result.file = file;
	if (std::filesystem::exists(file)) {
		try {
			for (const auto &[key, value] : toml::parse_file(file.string())) {
				const auto found = readers().find(key.str());

				if (found == readers().end())
					refuse_key(result, key.str(), value,
						   "left out: there is no such key");
				found->second(result, key.str(), value);
			}
		} catch (const toml::parse_error &error) {
			throw refusal(file.string() + ", line " +
				      std::to_string(error.source().begin.line) + ": " +
				      std::string(error.description()));
		}
	}
	name_node(result.spool, node);
	name_node(result.metrics, node);
	return result;
}

std::string describe_site(const site &rules)
{
	const nlohmann::json described = {
	    {"targets", rules.targets},
	    {"users", rules.users},
	    {"key_ring", rules.key_ring.string()},
	    {"signatures", rules.signatures_required ? "required" : "optional"},
	    {"mitigations_off", rules.mitigations_off},
	    {"spool", rules.spool.string()},
	    {"records", rules.records.string()},
	    {"store", rules.store.string()},
	    {"site_key", rules.site_key.string()},
	    {"metrics", rules.metrics.string()},
	    {"largest_bundle_mib", rules.largest_bundle >> 20},
	    {"largest_unpacked_mib", rules.largest_unpacked >> 20},
	    {"largest_store_mib", rules.largest_store >> 20},
	    {"largest_quantum_ms", rules.largest_quantum_ns / 1000000},
	    {"prepare_seconds", rules.prepare_seconds},
	    {"boot_seconds", rules.boot_seconds},
	};

	return described.dump();
}

} // namespace kadence
