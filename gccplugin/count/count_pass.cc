// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Passes of profile mode: what counts blocks (block_marks.h says how blocks got their names).
 *
 *   kadence_adoption  after the early inlining, which only moves marks from scope to scope.
 *   kadence_exact   a pass over the whole unit, right before the compiler's own `profile`: what
 *                   gcov counts is counted, and equals it, block for block. Calls may not return:
 *                   each has an edge of its own out of the function.
 *   kadence_fast    right after inlining, before what is done to each function by itself: later,
 *                   branches that choose between two values are no branches any more, and their
 *                   marks are gone with them. All that gcov sees is still there. Calls are taken
 *                   to return.
 *
 * To see their work: -fdump-tree-kadence_fast and -fdump-ipa-kadence_exact, which tell of each
 * block that is counted which named ones it consists of.
 */
#include "base/passes.h"
#include "count/block_marks.h"
#include "count/function_counter.h"

namespace kadence
{
namespace
{

const pass_data mark_pass_data = {
    GIMPLE_PASS, "kadence_marks", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class mark_pass : public gimple_opt_pass
{
      public:
	explicit mark_pass(gcc::context *context) : gimple_opt_pass(mark_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		mark_blocks(fn);
		return 0;
	}
};

const pass_data adoption_pass_data = {
    GIMPLE_PASS, "kadence_adoption", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class adoption_pass : public gimple_opt_pass
{
      public:
	explicit adoption_pass(gcc::context *context) : gimple_opt_pass(adoption_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		adopt_marks(fn);
		return 0;
	}
};

const pass_data fast_pass_data = {
    GIMPLE_PASS,
    "kadence_fast",
    OPTGROUP_NONE,
    TV_NONE,
    PROP_cfg | PROP_ssa,
    0,
    0,
    0,
    TODO_update_ssa | TODO_cleanup_cfg,
};

class fast_pass : public gimple_opt_pass
{
      public:
	explicit fast_pass(gcc::context *context) : gimple_opt_pass(fast_pass_data, context)
	{
	}

	/* Without optimisation kadence_exact has counted already. */
	bool gate(function *) final override
	{
		return optimize && !optimize_debug;
	}

	unsigned execute(function *fn) final override
	{
		if (is_left_alone(fn)) {
			take_marks(fn);
			return 0;
		}
		/* Inlining has left loops to be found anew. */
		loop_optimizer_init(LOOPS_NORMAL);
		scev_initialize();
		add_noreturn_fake_exit_edges();
		connect_infinite_loops_to_exit();
		count_blocks(fn, true);
		remove_fake_edges();
		scev_finalize();
		loop_optimizer_finalize();
		forget_purity(fn);
		/* It may call itself. */
		renew_calls(fn);
		return 0;
	}
};

} // namespace

opt_pass *make_mark_pass(gcc::context *context)
{
	return new mark_pass(context);
}

opt_pass *make_adoption_pass(gcc::context *context)
{
	return new adoption_pass(context);
}

opt_pass *make_fast_pass(gcc::context *context)
{
	return new fast_pass(context);
}

} // namespace kadence
