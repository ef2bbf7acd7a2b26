// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/function_shape.h"
#include "redirect/call_sites.h"

#include <algorithm>
#include <map>

namespace kadence
{
namespace
{

/* The key is DECL_UID: the garbage collector would have to know about trees. */
std::map<unsigned, std::vector<const call_site *>> chosen;

const plan *by_name; /* null: use only the chosen sites */

std::vector<const call_site *> sites_named(const_tree function)
{
	const char *file = DECL_SOURCE_FILE(function);

	return sites_of(*by_name, assembler_name(const_cast<tree>(function)),
			file ? remap_debug_filename(file) : "");
}

bool names_call(const call_site &site, const std::string &name, int line)
{
	if (site.line && (int)site.line != line)
		return false;
	return site.calls.empty() ||
	       std::find(site.calls.begin(), site.calls.end(), name) != site.calls.end();
}

planned_call plan_in(const_tree function, const std::string &name, site_kind kind, int line)
{
	const std::vector<const call_site *> *sites = chosen_sites(function);
	planned_call found = {};

	if (!sites)
		return found;
	for (const call_site *site : *sites) {
		if (site->kind != kind || !names_call(*site, name, line))
			continue;
		found.is_planned = true;
		found.treatments |= site->treatments;
	}
	return found;
}

} // namespace

const std::vector<const call_site *> *chosen_sites(const_tree function)
{
	auto found = chosen.find(DECL_UID(function));

	if (found == chosen.end() && by_name)
		found = chosen.emplace(DECL_UID(function), sites_named(function)).first;
	return found == chosen.end() ? nullptr : &found->second;
}

void choose_sites_by_name(const plan *what)
{
	by_name = what;
}

void choose_sites(const_tree function, const std::vector<const call_site *> &sites)
{
	chosen[DECL_UID(function)] = sites;
}

/* An inlined body is a block. The block names its function, and its location is the call. */
planned_call plan_of(const gcall *call, const std::string &name, site_kind kind)
{
	location_t place = gimple_location(call);

	for (tree block = LOCATION_BLOCK(place); block && TREE_CODE(block) == BLOCK;
	     block = BLOCK_SUPERCONTEXT(block)) {
		const_tree origin = inlined_function_outer_scope_p(block)
					? block_ultimate_origin(block)
					: NULL_TREE;
		if (!origin)
			continue;
		const planned_call found = plan_in(origin, name, kind, LOCATION_LINE(place));
		if (found.is_planned)
			return found;
		place = BLOCK_SOURCE_LOCATION(block);
	}
	return plan_in(current_function_decl, name, kind, LOCATION_LINE(place));
}

} // namespace kadence
