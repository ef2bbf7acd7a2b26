// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_sites chooses the functions in which calls are redirected, by the plan's names and
 * files. It makes the program link the parts of libkadapt that they need. It changes no code.
 *
 * A unit with a site of the plan carries the plan, also if no call is redirected: the writes of
 * shared libraries (C++'s and Fortran's streams) are interposed. If the plan is about memory
 * without a site, the unit of main carries the plan.
 */
#include "base/function_shape.h"
#include "base/passes.h"
#include "base/warning.h"
#include "plan/plan_object.h"
#include "redirect/call_sites.h"

namespace kadence
{
namespace
{

struct redirecting current;

/* As KADAPT_TREAT_* of libkadapt.h. */
const uint32_t all_treatments = 0xf;

/* A site that means every call of every function. */
const call_site every_io = {site_kind::io, "", "", 0, {}, false, 0, 0};
const call_site every_memory = {site_kind::memory, "", "", 0, {}, false, 0, all_treatments};

const char *describe(site_kind kind)
{
	return kind == site_kind::io ? "the I/O site" : "the memory site";
}

/* Appends the sites of this name, except those of a function that has changed since the profile. */
void append_sites(std::vector<const call_site *> &to, const std::string &name,
		  const function_shape &shape, location_t place)
{
	for (const call_site *site : sites_of(*current.plan, name, shape.file)) {
		if (!site->verified || site->cfg_checksum == shape.cfg_checksum)
			to.push_back(site);
		else
			warn_skipped(place, std::string(describe(site->kind)) + " in function '" +
						site->function + "' is skipped: " +
						why_changed(site->cfg_checksum, shape));
	}
}

std::vector<const call_site *> planned_sites(const function_shape &shape, location_t place)
{
	std::vector<const call_site *> found;

	if (current.redirect_all)
		found = {&every_io, &every_memory};
	if (!current.plan)
		return found;
	append_sites(found, shape.name, shape, place);
	for (const std::string &alias : shape.aliases)
		append_sites(found, alias, shape, place);
	return found;
}

void take_along(const std::vector<const call_site *> &sites)
{
	if (!current.plan)
		return;
	define_plan_object(*current.plan);
	for (const call_site *site : sites)
		if (site->kind == site_kind::io && current.plan->io.planned)
			refer_to(io_anchor);
}

/* Every program has exactly one main(). */
void take_along_in_main(const std::string &name)
{
	if (current.plan && name == "main" && current.plan->memory.planned &&
	    current.plan->memory.ahead)
		define_plan_object(*current.plan);
}

const pass_data site_pass_data = {
    GIMPLE_PASS, "kadence_sites", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class site_pass : public gimple_opt_pass
{
      public:
	explicit site_pass(gcc::context *context) : gimple_opt_pass(site_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		const location_t place = DECL_SOURCE_LOCATION(fn->decl);
		const function_shape shape = shape_of(fn);
		const std::vector<const call_site *> found = planned_sites(shape, place);

		take_along_in_main(shape.name);
		if (found.empty())
			return 0;
		if (POINTER_SIZE != 64) {
			warn_skipped(place,
				     "no call is redirected: libkadapt is for 64-bit programs");
			return 0;
		}
		choose_sites(fn->decl, found);
		take_along(found);
		return 0;
	}
};

} // namespace

opt_pass *make_site_pass(gcc::context *context, const redirecting &what)
{
	current = what;
	return new site_pass(context);
}

} // namespace kadence
