// SPDX-License-Identifier: GPL-3.0-or-later
/* Finds the markers, sites and counts of a function in a plan, by the function's name and file. */
#include "plan/plan.h"

#include <algorithm>

namespace kadence
{
namespace
{

std::vector<std::string> components(const std::string &path)
{
	std::vector<std::string> parts;
	size_t start = 0;

	while (start <= path.size()) {
		const size_t end = std::min(path.find('/', start), path.size());
		const std::string part = path.substr(start, end - start);
		if (part == ".." && !parts.empty())
			parts.pop_back();
		else if (!part.empty() && part != "." && part != "..")
			parts.push_back(part);
		start = end + 1;
	}
	return parts;
}

bool is_absolute(const std::string &path)
{
	return !path.empty() && path[0] == '/';
}

/* The suffixes that GCC appends to the names of copies of a function. */
std::string without_clone_suffix(const std::string &name)
{
	for (const char *suffix : {".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."}) {
		const size_t found = name.find(suffix);
		if (found != std::string::npos && found > 0)
			return name.substr(0, found);
	}
	return name;
}

bool names_function(const marker &candidate, const std::string &function)
{
	if (candidate.function == function)
		return true;
	return !candidate.verified && without_clone_suffix(candidate.function) == function;
}

void append_sites(std::vector<const call_site *> &to, const std::vector<call_site> &from,
		  const std::string &function, const std::string &file)
{
	for (const call_site &site : from)
		if ((site.function.empty() || without_clone_suffix(site.function) == function ||
		     site.function == function) &&
		    (site.file.empty() || same_file(site.file, file)))
			to.push_back(&site);
}

} // namespace

bool same_file(const std::string &one, const std::string &other)
{
	std::vector<std::string> shorter = components(one);
	std::vector<std::string> longer = components(other);

	if (shorter.empty() || longer.empty())
		return false;
	/* A source tree may have been profiled in another folder. */
	if (is_absolute(one) && is_absolute(other))
		return shorter.back() == longer.back();
	if (shorter.size() > longer.size())
		shorter.swap(longer);
	return std::equal(shorter.rbegin(), shorter.rend(), longer.rbegin());
}

std::vector<const marker *> markers_of(const plan &from, const std::string &function,
				       const std::string &file)
{
	std::vector<const marker *> found;

	for (const marker &candidate : from.markers)
		if (names_function(candidate, function) &&
		    (candidate.file.empty() || same_file(candidate.file, file)))
			found.push_back(&candidate);
	return found;
}

std::vector<const counted_function *>
counted_as(const code_layout &from, const std::string &function, const std::string &file)
{
	std::vector<const counted_function *> found;
	const auto range = from.functions.equal_range(function);

	for (auto each = range.first; each != range.second; ++each)
		if (same_file(each->second.file, file))
			found.push_back(&each->second);
	return found;
}

std::vector<const call_site *> sites_of(const plan &from, const std::string &function,
					const std::string &file)
{
	std::vector<const call_site *> found;

	if (from.io.planned)
		append_sites(found, from.io.sites, function, file);
	if (from.memory.planned)
		append_sites(found, from.memory.sites, function, file);
	return found;
}

} // namespace kadence
