/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads members of a plan's JSON. Each function returns whether the member is as it should be. */
#ifndef KADENCE_PLAN_JSON_H
#define KADENCE_PLAN_JSON_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#define JSON_NOEXCEPTION
#include <nlohmann/json.hpp>

namespace kadence
{

using nlohmann::json;

/* NULL if there is no such member. */
const json *member(const json &object, const char *key);

/* A member that is absent or null has no value. */
bool has_value(const json &object, const char *key);

bool read_text(const json &object, const char *key, std::string &value);

/* The checksum of a function's control flow: eight hexadecimal digits. */
bool read_digits(const json &object, const char *key, uint32_t &checksum);

/* A list of texts, which may be missing. */
bool read_names(const json &object, const char *key, std::vector<std::string> &names);

template <typename unsigned_type>
bool read_unsigned(const json &object, const char *key, unsigned_type &value)
{
	const json *found = member(object, key);
	if (!found || !found->is_number_unsigned())
		return false;
	const uint64_t wide = found->get<uint64_t>();
	value = static_cast<unsigned_type>(wide);
	return wide <= std::numeric_limits<unsigned_type>::max();
}

struct named_bit {
	const char *name;
	uint32_t bit;
};

/* The bits of a list of names from a table. An unknown name is an error. */
template <size_t count>
bool read_bits(const json &object, const char *key, const named_bit (&table)[count], uint32_t &bits)
{
	std::vector<std::string> names;

	bits = 0;
	if (!has_value(object, key) || !read_names(object, key, names))
		return false;
	for (const std::string &name : names) {
		const named_bit *found =
		    std::find_if(table, table + count,
				 [&](const named_bit &known) { return name == known.name; });
		if (found == table + count)
			return false;
		bits |= found->bit;
	}
	return true;
}

/* Why the plan at `path` is refused. */
std::string refuse(const char *path, const std::string &why);

} // namespace kadence

#endif
