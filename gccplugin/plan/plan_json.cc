// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/plan_json.h"

#include <cstdlib>

namespace kadence
{

const json *member(const json &object, const char *key)
{
	const auto found = object.find(key);
	return found == object.end() ? nullptr : &*found;
}

bool has_value(const json &object, const char *key)
{
	const json *found = member(object, key);
	return found && !found->is_null();
}

bool read_text(const json &object, const char *key, std::string &value)
{
	const json *found = member(object, key);
	if (!found || !found->is_string())
		return false;
	value = found->get<std::string>();
	return true;
}

bool read_digits(const json &object, const char *key, uint32_t &checksum)
{
	std::string digits;

	if (!read_text(object, key, digits) || digits.size() != 8 ||
	    digits.find_first_not_of("0123456789abcdef") != std::string::npos)
		return false;
	checksum = static_cast<uint32_t>(std::strtoul(digits.c_str(), nullptr, 16));
	return true;
}

bool read_names(const json &object, const char *key, std::vector<std::string> &names)
{
	if (!has_value(object, key))
		return true;
	const json *list = member(object, key);
	if (!list->is_array())
		return false;
	for (const json &item : *list) {
		if (!item.is_string())
			return false;
		names.push_back(item.get<std::string>());
	}
	return true;
}

std::string refuse(const char *path, const std::string &why)
{
	return std::string("plan ") + path + " " + why + "; make it anew with `kadence plan`";
}

} // namespace kadence
