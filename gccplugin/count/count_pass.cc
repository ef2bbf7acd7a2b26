// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The passes of profile mode, which count blocks. block_marks.h says how blocks are named.
 *
 *   kadence_adoption  runs after the early inlining, and only moves marks from scope to scope.
 *   kadence_unsplit takes the place of fnsplit, so that functions are counted whole.
 *   kadence_exact   runs over the whole unit, right before the compiler's own `profile`. It names
 *                   the blocks for the layout. If it also counts, its counts equal gcov's, block by
 *                   block. Calls may not return: each call has an edge out of the function.
 *   kadence_fast    runs right after inlining, before the passes over single functions. Those
 *                   replace branches that choose between two values, and delete their marks. All
 *                   blocks that gcov counts are still there. Calls are assumed to return.
 *
 * -fdump-tree-kadence_fast and -fdump-ipa-kadence_exact print, for each counted block, the named
 * blocks that it consists of.
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
		mark_blocks(fn, false);
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
		/* After inlining, the loops have to be found again. */
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
