// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/plan_layout.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kadence
{
namespace
{

const char digits[] = "0123456789";

/* Reads a number at `place`, which the character `end` must follow; goes behind that. */
bool read_number(const char *&place, char end, uint64_t &value)
{
	char *stop;

	if (!strchr(digits, *place) || !*place)
		return false;
	errno = 0;
	value = std::strtoull(place, &stop, 10);
	if (errno || *stop != end)
		return false;
	place = end ? stop + 1 : stop;
	return true;
}

/* "BLOCK:COUNT BLOCK:COUNT …" */
bool read_counts(const std::string &text, code_layout &layout, counted_function &result)
{
	const char *place = text.c_str();

	while (*place) {
		uint64_t block, count;
		const bool is_last = !strchr(place, ' ');

		if (!read_number(place, ':', block) || block > UINT32_MAX ||
		    !read_number(place, is_last ? '\0' : ' ', count))
			return false;
		result.blocks.push_back({static_cast<unsigned>(block), count});
		layout.most = std::max(layout.most, count);
	}
	return true;
}

bool read_function(const json &object, code_layout &layout)
{
	std::string name, counts;
	counted_function next = {};

	if (!object.is_object() || !read_text(object, "function", name) || name.empty() ||
	    !read_text(object, "file", next.file) ||
	    !read_digits(object, "cfg_checksum", next.cfg_checksum) ||
	    !read_text(object, "counts", counts) || !read_counts(counts, layout, next))
		return false;
	layout.functions.emplace(name, std::move(next));
	return true;
}

} // namespace

/* A plan without a layout leaves it out. */
std::string read_layout(const char *path, const json &document, plan &result)
{
	code_layout &layout = result.layout;

	layout.planned = false;
	layout.most = 1;
	if (!has_value(document, "layout"))
		return "";
	const json *functions = member(*member(document, "layout"), "functions");
	if (!functions || !functions->is_array())
		return refuse(path, "has no list of counted functions in its layout");
	for (const json &item : *functions)
		if (!read_function(item, layout))
			return refuse(path, "is damaged at counted function " +
						std::to_string(layout.functions.size()));
	layout.planned = !layout.functions.empty();
	return "";
}

} // namespace kadence
