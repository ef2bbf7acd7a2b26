// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kadence's compiler plugin: arguments and registration.
 *
 *   -fplugin=PATH/kadence.so               records every function's control-flow checksum
 *   -fplugin-arg-kadence-plan=PLAN.json    also announces phases at the plan's markers
 *   -fplugin-arg-kadence-verbose           tells of every marker inserted
 *   -fplugin-arg-kadence-mark-all          for tests: announces phase 0 everywhere it can
 *
 * The passes and their position are described in passes.h.
 */
#include "passes.h"
#include "phase_call.h"

#include <cstring>

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

namespace
{

kadence::plan the_plan;

plugin_info description = {
    "1",
    "plan=FILE     announce the phases of this plan\n"
    "verbose       tell of every marker inserted\n"
    "mark-all      announce phase 0 at every function and loop (for tests)\n",
};

/* What makes no sense ends the compilation, in one sentence. */
void take_plan(const char *path, kadence::marking &what)
{
	const std::string complaint = kadence::read_plan(path, the_plan);

	if (!complaint.empty())
		fatal_error(UNKNOWN_LOCATION, "kadence: %s", complaint.c_str());
	what.plan = &the_plan;
}

void take_argument(const plugin_argument &argument, kadence::marking &what)
{
	if (!strcmp(argument.key, "plan") && argument.value)
		take_plan(argument.value, what);
	else if (!strcmp(argument.key, "verbose") && !argument.value)
		what.verbose = true;
	else if (!strcmp(argument.key, "mark-all") && !argument.value)
		what.mark_all = true;
	else
		fatal_error(UNKNOWN_LOCATION,
			    "kadence: the plugin has no argument %qs of this form; it knows "
			    "plan=FILE, verbose and mark-all",
			    argument.key);
}

void add_pass_after(const char *plugin_name, opt_pass *pass, const char *reference)
{
	register_pass_info info = {pass, reference, 1, PASS_POS_INSERT_AFTER};

	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

void finish_unit(void *, void *)
{
	kadence::emit_cfg_section();
}

/* Link-time optimisation only continues what was compiled, and recorded, before. */
bool is_link_time()
{
	return !strcmp(lang_hooks.name, "GNU GIMPLE");
}

} // namespace

__attribute__((visibility("default"))) int plugin_init(plugin_name_args *given,
						       plugin_gcc_version *version)
{
	kadence::marking what = {};

	if (!plugin_default_version_check(version, &gcc_version))
		fatal_error(
		    UNKNOWN_LOCATION,
		    "kadence: the plugin was built for GCC %s, not for %s; run %<make build%> "
		    "anew",
		    gcc_version.basever, version->basever);
	if (is_link_time())
		return 0;
	for (int index = 0; index < given->argc; index++)
		take_argument(given->argv[index], what);
	register_callback(given->base_name, PLUGIN_INFO, NULL, &description);
	register_callback(given->base_name, PLUGIN_FINISH_UNIT, finish_unit, NULL);
	add_pass_after(given->base_name, kadence::make_cfg_pass(g), "ssa");
	if (what.plan || what.mark_all) {
		kadence::register_phase_call_roots(given->base_name);
		add_pass_after(given->base_name, kadence::make_marker_pass(g, what), "kadence_cfg");
	}
	return 0;
}
