// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_counts gives the compiler the block counts of a plan, as if it had counted them for
 * -fprofile-use itself. Block order, splitting, inlining, unrolling and the sections of functions
 * follow from them.
 *
 * The pass runs where the compiler reads its own counts, right before its pass `profile`. So do the
 * early passes as in the counted program, and a block is the block that was counted there
 * (count/block_marks.h): each copy of a function that was inlined early has its own counts.
 *
 * In a function that did not run, the compiler guesses as without a plan: another input may need
 * it. So does a function that the plan's calls changed. A unit in which results depend on the
 * layout (rounding.h) is compiled as without counts.
 */
#include "base/function_shape.h"
#include "base/passes.h"
#include "base/warning.h"
#include "layout/counted_graph.h"
#include "layout/labels.h"
#include "layout/rounding.h"
#include "plan/plan.h"

#include <algorithm>

namespace kadence
{
namespace
{

/*
 * The compiler estimates a function anew if its largest count is below 1,000 (predict.cc,
 * rebuild_frequencies). So each run counts as so many, as long as no count overflows.
 */
const uint64_t most_runs = 1024;

const std::string library_prefix = "kadapt_";

gcov_summary all_counts;

bool is_inserted(gimple *statement)
{
	const tree callee = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;

	return callee && !assembler_name(callee).compare(0, library_prefix.size(), library_prefix);
}

/* Calls that the plan inserted change the graph in which the blocks were counted. */
bool has_inserted_calls(const function *fn)
{
	basic_block block;

	FOR_EACH_BB_FN(block, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (is_inserted(gsi_stmt(gsi)))
			return true;
	return false;
}

/* A function with such a call may not be inlined any more, which changes its callers, too. */
bool unit_has_inserted_calls()
{
	cgraph_node *node;

	FOR_EACH_DEFINED_FUNCTION(node)
	if (gimple_has_body_p(node->decl) && has_inserted_calls(DECL_STRUCT_FUNCTION(node->decl)))
		return true;
	return false;
}

void warn_stale(const function_identity &identity, uint32_t checksum_then)
{
	const std::string why = why_changed(checksum_then, identity);

	warn_skipped(DECL_SOURCE_LOCATION(cfun->decl),
		     "the counts of function '" + identity.name + "' are skipped: " +
			 (unit_has_inserted_calls()
			      ? "a function that it inlined has the plan's calls now, or " + why
			      : why));
}

/* The compiler's message begins with the current function. */
void warn_rounding(const rounding &found)
{
	push_cfun(DECL_STRUCT_FUNCTION(found.function));
	warn_skipped(DECL_SOURCE_LOCATION(found.function),
		     "the plan's counts are left out of this unit: in function '" +
			 assembler_name(found.function) + "', " + found.why);
	pop_cfun();
}

/* As the command line would; what the command line says about single optimisations stays. */
void use_profile()
{
	cl_option_handlers handlers;

	set_default_handlers(&handlers, NULL);
	handle_generated_option(&global_options, &global_options_set, OPT_fprofile_use, NULL, 1,
				CL_LANG_ALL, unspecified_severity, UNKNOWN_LOCATION, &handlers,
				true, global_dc);
	/* The compiler's own reader finds no counts: it says nothing, and changes none. Of values
	 * there are no counts, and functions with options of their own would begin to count them.
	 */
	warn_missing_profile = 0;
	flag_profile_values = 0;
	flag_profile_correction = 1;
	flag_profile_partial_training = 1;
	/* As finish_options (opts.cc), which has run: without this, no loop is peeled. */
	if (!global_options_set.x_flag_cunroll_grow_size)
		flag_cunroll_grow_size = flag_unroll_loops || flag_peel_loops || optimize >= 3;
	/* Functions without options of their own share these. */
	cl_optimization_save(TREE_OPTIMIZATION(optimization_default_node), &global_options,
			     &global_options_set);
}

const pass_data counts_pass_data = {
    SIMPLE_IPA_PASS, "kadence_counts", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

class counts_pass : public simple_ipa_opt_pass
{
      public:
	counts_pass(gcc::context *context, const code_layout *layout, bool verbose)
	    : simple_ipa_opt_pass(counts_pass_data, context), counts(layout), is_verbose(verbose)
	{
	}

	/* As pass profile_estimate. */
	bool gate(function *) final override
	{
		return optimize && flag_guess_branch_prob;
	}

	unsigned execute(function *) final override
	{
		const rounding found = find_rounding();
		cgraph_node *node;

		if (found.function) {
			warn_rounding(found);
			return 0;
		}
		FOR_EACH_DEFINED_FUNCTION(node)
		if (gimple_has_body_p(node->decl) && !node->clone_of) {
			push_cfun(DECL_STRUCT_FUNCTION(node->decl));
			give_counts(cfun);
			pop_cfun();
		}
		set_counts_of_program();
		use_profile();
		return 0;
	}

      private:
	const code_layout *const counts;
	const bool is_verbose;

	uint64_t runs() const
	{
		return std::max<uint64_t>(1, std::min(most_runs, largest_count / counts->most));
	}

	void set_counts_of_program() const
	{
		all_counts.runs = (gcov_unsigned_t)runs();
		all_counts.sum_max = (gcov_type)(std::min(counts->most, largest_count) * runs());
		profile_info = &all_counts;
	}

	void give_counts(function *fn) const
	{
		const function_identity identity = identity_of(fn);
		const counted_function *counted = counts_of(identity);

		if (!counted || has_subtracted_labels(fn->decl))
			return;
		const counted_graph graph(fn, *counted, runs());
		if (graph.calls())
			graph.give_to_compiler();
		if (is_verbose)
			inform(DECL_SOURCE_LOCATION(fn->decl), "kadence: counts of %s: %s",
			       identity.name.c_str(), graph.described().c_str());
	}

	/* The function's counts, or NULL. */
	const counted_function *counts_of(const function_identity &identity) const
	{
		const counted_function *other = NULL;

		for (const counted_function *found :
		     counted_as(*counts, identity.name, identity.file)) {
			if (found->cfg_checksum == identity.cfg_checksum)
				return found;
			other = found;
		}
		if (other && !has_inserted_calls(cfun))
			warn_stale(identity, other->cfg_checksum);
		return NULL;
	}
};

} // namespace

opt_pass *make_counts_pass(gcc::context *context, const code_layout *layout, bool verbose)
{
	return new counts_pass(context, layout, verbose);
}

} // namespace kadence
