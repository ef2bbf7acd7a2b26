// SPDX-License-Identifier: GPL-3.0-or-later
#include "io_sites.h"

#include <algorithm>
#include <map>

namespace kadence
{
namespace
{

/* By DECL_UID: a tree kept here would have to be told to the garbage collector. */
std::map<unsigned, std::vector<const io_site *>> chosen;

bool names_call(const io_site &site, const std::string &name, int line)
{
	if (site.line && (int)site.line != line)
		return false;
	return site.calls.empty() ||
	       std::find(site.calls.begin(), site.calls.end(), name) != site.calls.end();
}

bool function_names(const_tree function, const std::string &name, int line)
{
	const std::vector<const io_site *> *sites = chosen_sites(function);

	return sites && std::any_of(sites->begin(), sites->end(), [&](const io_site *site) {
		       return names_call(*site, name, line);
	       });
}

} // namespace

const std::vector<const io_site *> *chosen_sites(const_tree function)
{
	const auto found = chosen.find(DECL_UID(function));

	return found == chosen.end() ? nullptr : &found->second;
}

void choose_sites(const_tree function, const std::vector<const io_site *> &sites)
{
	chosen[DECL_UID(function)] = sites;
}

/* An inlined body is a block that names its function; the place of the call is its location. */
bool is_planned(const gcall *call, const std::string &name)
{
	location_t place = gimple_location(call);

	for (tree block = LOCATION_BLOCK(place); block && TREE_CODE(block) == BLOCK;
	     block = BLOCK_SUPERCONTEXT(block)) {
		const_tree origin = inlined_function_outer_scope_p(block)
					? block_ultimate_origin(block)
					: NULL_TREE;
		if (!origin)
			continue;
		if (function_names(origin, name, LOCATION_LINE(place)))
			return true;
		place = BLOCK_SOURCE_LOCATION(block);
	}
	return function_names(current_function_decl, name, LOCATION_LINE(place));
}

} // namespace kadence
