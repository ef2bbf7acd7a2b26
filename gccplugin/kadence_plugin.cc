// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kadence's compiler plugin: arguments and registration.
 *
 *   -fplugin=PATH/kadence.so               records every function's control-flow checksum
 *   -fplugin-arg-kadence-plan=PLAN.json    also announces phases at the plan's markers, redirects
 *                                          calls at its sites, and lays code out by its counts
 *   -fplugin-arg-kadence-profile=MODE      counts basic blocks, MODE is fast or exact
 *   -fplugin-arg-kadence-verbose           prints every marker, redirected call and batch
 *   -fplugin-arg-kadence-mark-all          for tests: announces phase 0 everywhere it can
 *   -fplugin-arg-kadence-redirect-all      for tests: redirects every call that it can
 *
 * base/passes.h describes the passes and their positions.
 */
#include "base/passes.h"
#include "count/block_marks.h"
#include "count/count_tables.h"
#include "mark/phase_call.h"
#include "plan/plan_read.h"
#include "redirect/call_sites.h"
#include "redirect/library_calls.h"

#include <cstring>

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

namespace
{

kadence::plan the_plan;

plugin_info description = {
    "1",
    "plan=FILE     announce the phases of this plan, redirect calls at its sites, use its counts\n"
    "profile=MODE  count basic blocks; MODE is fast or exact\n"
    "verbose       tell of every marker, redirected call and batch\n"
    "mark-all      announce phase 0 at every function and loop (for tests)\n"
    "redirect-all  redirect every call that can be (for tests)\n",
};

struct wishes {
	kadence::marking marking;
	kadence::redirecting redirecting;
	bool counting;
};

bool counting_fast;

/* A plan that cannot be used ends the compilation with one sentence. */
void take_plan(const char *path, wishes &what)
{
	const std::string complaint = kadence::read_plan(path, the_plan);

	if (!complaint.empty())
		fatal_error(UNKNOWN_LOCATION, "kadence: %s", complaint.c_str());
	what.marking.plan = &the_plan;
	if (the_plan.io.planned || the_plan.memory.planned)
		what.redirecting.plan = &the_plan;
}

void take_profile(const char *mode, wishes &what)
{
	counting_fast = !strcmp(mode, "fast");
	if (!counting_fast && strcmp(mode, "exact"))
		fatal_error(UNKNOWN_LOCATION,
			    "kadence: profile is %qs; it must be %<fast%> or %<exact%>", mode);
	what.counting = true;
}

void take_argument(const plugin_argument &argument, wishes &what)
{
	if (!strcmp(argument.key, "plan") && argument.value)
		take_plan(argument.value, what);
	else if (!strcmp(argument.key, "profile") && argument.value)
		take_profile(argument.value, what);
	else if (!strcmp(argument.key, "verbose") && !argument.value)
		what.marking.verbose = what.redirecting.verbose = true;
	else if (!strcmp(argument.key, "mark-all") && !argument.value)
		what.marking.mark_all = true;
	else if (!strcmp(argument.key, "redirect-all") && !argument.value)
		what.redirecting.redirect_all = true;
	else
		fatal_error(UNKNOWN_LOCATION,
			    "kadence: the plugin has no argument %qs of this form; it knows "
			    "plan=FILE, profile=MODE, verbose, mark-all and redirect-all",
			    argument.key);
}

/* `instance`: which of the passes of that name; 0: each of them. */
void add_pass(const char *plugin_name, opt_pass *pass, const char *reference,
	      pass_positioning_ops position, int instance = 1)
{
	register_pass_info info = {pass, reference, instance, position};

	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

void add_pass_after(const char *plugin_name, opt_pass *pass, const char *reference)
{
	add_pass(plugin_name, pass, reference, PASS_POS_INSERT_AFTER);
}

void finish_unit(void *, void *)
{
	kadence::emit_cfg_section();
	kadence::emit_count_tables(counting_fast);
}

/* Link-time optimisation continues the compilation of functions that are recorded already. */
bool is_link_time()
{
	return !strcmp(lang_hooks.name, "GNU GIMPLE");
}

/* For all inserted code, also in link-time optimisation, which deletes stores, too. */
void guard_stores(const char *plugin_name, const wishes &what)
{
	if (!what.counting && !what.marking.plan && !what.marking.mark_all &&
	    !what.redirecting.redirect_all)
		return;
	add_pass(plugin_name, kadence::make_store_pass(g, what.marking.verbose), "dse",
		 PASS_POS_INSERT_BEFORE, 0);
	add_pass(plugin_name, kadence::make_stores_done_pass(g), "dse", PASS_POS_INSERT_AFTER, 0);
}

void add_batches(const char *plugin_name, const wishes &what)
{
	if (is_link_time())
		kadence::choose_sites_by_name(what.redirecting.plan);
	if (what.redirecting.plan || what.redirecting.redirect_all)
		add_pass_after(plugin_name, kadence::make_batch_pass(g, what.redirecting),
			       "fix_loops");
}

/* For adapted code only: when blocks are counted, the wrapper aligns all loops. */
void add_alignment(const char *plugin_name, const wishes &what)
{
	if (what.counting)
		return;
	add_pass(plugin_name, kadence::make_alignment_pass(g), "alignments",
		 PASS_POS_INSERT_BEFORE);
}

void add_counting(const char *plugin_name)
{
	kadence::keep_marks();
	add_pass_after(plugin_name, kadence::make_mark_pass(g), "kadence_cfg");
	add_pass_after(plugin_name, kadence::make_adoption_pass(g), "einline");
	add_pass(plugin_name, kadence::make_exact_pass(g, counting_fast), "profile",
		 PASS_POS_INSERT_BEFORE);
	if (counting_fast)
		add_pass_after(plugin_name, kadence::make_fast_pass(g), "adjust_alignment");
	add_pass(plugin_name, kadence::make_unsplit_pass(g), "fnsplit", PASS_POS_REPLACE);
}

void add_layout(const char *plugin_name, const wishes &what)
{
	add_pass(plugin_name,
		 kadence::make_counts_pass(g, &what.marking.plan->layout, what.marking.verbose),
		 "profile", PASS_POS_INSERT_BEFORE);
	add_pass(plugin_name, kadence::make_unsplit_pass(g), "fnsplit", PASS_POS_REPLACE);
}

bool is_laid_out(const wishes &what)
{
	return what.marking.plan && what.marking.plan->layout.planned && optimize;
}

/* Also in link-time optimisation, which has the counts and runs these passes. */
void keep_counts(const char *plugin_name, const wishes &what)
{
	if (what.marking.plan && what.marking.plan->layout.planned)
		add_pass(plugin_name, kadence::make_forwarders_pass(g), "cddce",
			 PASS_POS_INSERT_AFTER, 0);
}

/* The passes that need the source's own functions. */
void add_compilation(const char *plugin_name, const wishes &what)
{
	const char *last = "kadence_cfg";

	register_callback(plugin_name, PLUGIN_FINISH_UNIT, finish_unit, NULL);
	add_pass_after(plugin_name, kadence::make_cfg_pass(g), "ssa");
	if (is_laid_out(what))
		add_layout(plugin_name, what);
	if (what.counting)
		add_counting(plugin_name);
	if (what.marking.plan || what.marking.mark_all) {
		kadence::register_phase_call_roots(plugin_name);
		add_pass_after(plugin_name, kadence::make_marker_pass(g, what.marking), last);
		last = "kadence_phases";
	}
	if (what.redirecting.plan || what.redirecting.redirect_all) {
		kadence::register_library_call_roots(plugin_name);
		add_pass_after(plugin_name, kadence::make_site_pass(g, what.redirecting), last);
		add_pass_after(plugin_name, kadence::make_redirect_pass(g, what.redirecting),
			       "einline");
	}
}

} // namespace

__attribute__((visibility("default"))) int plugin_init(plugin_name_args *given,
						       plugin_gcc_version *version)
{
	wishes what = {};

	if (!plugin_default_version_check(version, &gcc_version))
		fatal_error(
		    UNKNOWN_LOCATION,
		    "kadence: the plugin was built for GCC %s, not for %s; build it for this "
		    "compiler with %<make plugin%>",
		    gcc_version.basever, version->basever);
	for (int index = 0; index < given->argc; index++)
		take_argument(given->argv[index], what);
	register_callback(given->base_name, PLUGIN_INFO, NULL, &description);
	if (!is_link_time())
		add_compilation(given->base_name, what);
	add_batches(given->base_name, what);
	guard_stores(given->base_name, what);
	keep_counts(given->base_name, what);
	add_alignment(given->base_name, what);
	return 0;
}
