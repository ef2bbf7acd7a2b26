// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_io: chooses the functions in which calls are redirected, by the plan's names and
 * files, and has the program linked with what planned I/O needs. Changes no code.
 *
 * A unit in which a site of the plan is carries the plan, whether or not a call is redirected:
 * what shared libraries write for it (C++'s and Fortran's streams) is interposed on.
 */
#include "passes.h"
#include "function_shape.h"
#include "io_sites.h"
#include "plan_object.h"
#include "warning.h"

namespace kadence
{
namespace
{

struct redirecting current;

/* Every call of every function. */
const io_site everywhere = {};

/* Appends the sites of this name, but for those of a function that is no longer what it was. */
void append_sites(std::vector<const io_site *> &to, const std::string &name,
		  const function_shape &shape, location_t place)
{
	for (const io_site *site : sites_of(*current.plan, name, shape.file)) {
		if (!site->verified || site->cfg_checksum == shape.cfg_checksum)
			to.push_back(site);
		else
			warn_skipped(place,
				     "the I/O site in function '" + site->function +
					 "' is skipped: " + why_changed(site->cfg_checksum, shape));
	}
}

std::vector<const io_site *> planned_sites(const function_shape &shape, location_t place)
{
	std::vector<const io_site *> found;

	if (current.redirect_all)
		found.push_back(&everywhere);
	if (!current.plan)
		return found;
	append_sites(found, shape.name, shape, place);
	for (const std::string &alias : shape.aliases)
		append_sites(found, alias, shape, place);
	return found;
}

void take_along()
{
	if (!current.plan || !current.plan->io.planned)
		return;
	define_plan_object(*current.plan);
	require_interposition();
}

const pass_data io_pass_data = {
    GIMPLE_PASS, "kadence_io", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class io_pass : public gimple_opt_pass
{
      public:
	explicit io_pass(gcc::context *context) : gimple_opt_pass(io_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		const location_t place = DECL_SOURCE_LOCATION(fn->decl);
		const std::vector<const io_site *> found = planned_sites(shape_of(fn), place);

		if (found.empty())
			return 0;
		if (POINTER_SIZE != 64) {
			warn_skipped(place,
				     "no call is redirected: libkadapt is for 64-bit programs");
			return 0;
		}
		choose_sites(fn->decl, found);
		take_along();
		return 0;
	}
};

} // namespace

opt_pass *make_io_pass(gcc::context *context, const redirecting &what)
{
	current = what;
	return new io_pass(context);
}

} // namespace kadence
