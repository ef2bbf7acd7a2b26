// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_exact counts blocks as gcov does, right before the compiler's own `profile`.
 * count_pass.cc describes the passes.
 */
#include "base/function_shape.h"
#include "base/passes.h"
#include "count/block_marks.h"
#include "count/function_counter.h"

namespace kadence
{
namespace
{

/* Whether the edge is a jump that has its own line in the source. */
bool is_written_elsewhere(edge way, gimple *last)
{
	return last && gimple_has_location(last) && !RESERVED_LOCATION_P(way->goto_locus) &&
	       !single_succ_p(way->src) &&
	       (LOCATION_FILE(way->goto_locus) != LOCATION_FILE(gimple_location(last)) ||
		LOCATION_LINE(way->goto_locus) != LOCATION_LINE(gimple_location(last)));
}

gimple *last_with_location(basic_block block)
{
	gimple *last = NULL;

	for (gimple_stmt_iterator gsi = gsi_last_nondebug_bb(block); !gsi_end_p(gsi);
	     gsi_prev_nondebug(&gsi)) {
		last = gsi_stmt(gsi);
		if (!RESERVED_LOCATION_P(gimple_location(last)))
			break;
	}
	return last;
}

/* Changes the graph to that of gcov: blocks for such jumps, blocks end at calls, new numbers. */
void shape_as_gcov_does(function *fn)
{
	basic_block block;

	if (execute_fixup_cfg() & TODO_cleanup_cfg)
		cleanup_tree_cfg();
	flow_call_edges_add(NULL);
	add_noreturn_fake_exit_edges();
	FOR_EACH_BB_FN(block, fn)
	for (edge way : all_of(block->succs))
		if (is_written_elsewhere(way, last_with_location(block))) {
			const location_t place = way->goto_locus;
			single_succ_edge(split_edge(way))->goto_locus = place;
		}
	compact_blocks();
	connect_infinite_loops_to_exit();
}

const pass_data exact_pass_data = {
    SIMPLE_IPA_PASS, "kadence_exact", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

class exact_pass : public simple_ipa_opt_pass
{
      public:
	exact_pass(gcc::context *context, bool fast)
	    : simple_ipa_opt_pass(exact_pass_data, context), fast_mode(fast)
	{
	}

	unsigned execute(function *) final override
	{
		cgraph_node *node;

		FOR_EACH_DEFINED_FUNCTION(node)
		if (gimple_has_body_p(node->decl) && !node->clone_of) {
			name_for_layout(node);
			if (is_counted_later(node))
				hold_marks(node->get_fun());
			else
				count_now(node);
		}
		/* Not earlier: the called functions decide whether a call may not return. */
		FOR_EACH_DEFINED_FUNCTION(node)
		if (gimple_has_body_p(node->decl) && !is_left_alone(node->get_fun()))
			forget_purity(node->get_fun());
		FOR_EACH_DEFINED_FUNCTION(node)
		if (gimple_has_body_p(node->decl) && !node->clone_of)
			renew(node);
		return 0;
	}

      private:
	const bool fast_mode;

	/* A function that is not counted loses its marks now, before it is inlined elsewhere. */
	bool is_counted_later(cgraph_node *node) const
	{
		return fast_mode && opt_for_fn(node->decl, optimize) &&
		       !opt_for_fn(node->decl, optimize_debug) && !is_left_alone(node->get_fun());
	}

	static void name_for_layout(cgraph_node *node)
	{
		if (is_left_alone(node->get_fun()))
			return;
		push_cfun(node->get_fun());
		mark_blocks(cfun, true);
		pop_cfun();
	}

	static void count_now(cgraph_node *node)
	{
		push_cfun(DECL_STRUCT_FUNCTION(node->decl));
		if (is_left_alone(cfun)) {
			take_marks(cfun);
		} else {
			shape_as_gcov_does(cfun);
			count_blocks(cfun, false);
			remove_fake_edges();
		}
		free_dominance_info(CDI_DOMINATORS);
		free_dominance_info(CDI_POST_DOMINATORS);
		pop_cfun();
	}

	/* Calls of functions that were pure, and the rest of the splitting of blocks. */
	static void renew(cgraph_node *node)
	{
		push_cfun(DECL_STRUCT_FUNCTION(node->decl));
		renew_calls(cfun);
		cleanup_tree_cfg();
		update_ssa(TODO_update_ssa);
		cgraph_edge::rebuild_edges();
		pop_cfun();
	}
};

} // namespace

opt_pass *make_exact_pass(gcc::context *context, bool fast)
{
	return new exact_pass(context, fast);
}

} // namespace kadence
