// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_batches makes one call of some loops: kadapt_batch_write or kadapt_batch_send of
 * libkadapt. The only effect of such a loop is to write or send pieces of memory at even distances.
 * Its writes are redirected (kadence_redirect), or its sends are at a site of the plan.
 * batch_loop.cc proves the loop's properties, and batch_build.h describes the result.
 * -fplugin-arg-kadence-verbose prints the batches, and -fdump-tree-all dumps them.
 *
 * The pass runs right before the loop optimisers: inlining is over, and loops have their simplest
 * form. It also runs at link time. At -O0 and -Og the compiler has no loop optimisers, so there are
 * no batches.
 *
 * The pass leaves these alone: loops with other stores or calls; loops with loads of memory that
 * the call may change; loops with pieces of different sizes; calls that a C++ handler or destructor
 * covers.
 */
#include "base/passes.h"
#include "batch/batch_build.h"
#include "batch/batch_loop.h"

namespace kadence
{
namespace
{

bool verbose;

/* Returns whether the function was changed. */
bool transform(class loop *loop, gcall *call)
{
	const location_t place = gimple_location(call);
	batch_loop found;

	if (const char *objection = describe_batch(loop, call, found)) {
		if (verbose)
			inform(place, "the loop of this call is no batch: %s", objection);
		return found.hoisted;
	}
	if (verbose)
		inform(place, "the loop of this call is one batch");
	build_batch(found);
	return true;
}

void forget_analyses()
{
	free_dominance_info(CDI_DOMINATORS);
	calculate_dominance_info(CDI_DOMINATORS);
	scev_reset();
}

bool transform_all(function *fn)
{
	bool changed = false;

	for (class loop *loop : loops_list(fn, LI_ONLY_INNERMOST)) {
		gcall *call = batchable_call(loop);
		if (!call)
			continue;
		if (transform(loop, call)) {
			forget_analyses();
			changed = true;
		}
	}
	return changed;
}

const pass_data batch_pass_data = {
    GIMPLE_PASS, "kadence_batches", OPTGROUP_LOOP, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class batch_pass : public gimple_opt_pass
{
      public:
	explicit batch_pass(gcc::context *context) : gimple_opt_pass(batch_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		bool changed = false;

		loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
		if (number_of_loops(fn) > 1) {
			scev_initialize();
			changed = transform_all(fn);
			scev_finalize();
		}
		loop_optimizer_finalize();
		return changed ? TODO_update_ssa_only_virtuals | TODO_cleanup_cfg : 0;
	}
};

} // namespace

opt_pass *make_batch_pass(gcc::context *context, const redirecting &what)
{
	verbose = what.verbose;
	return new batch_pass(context);
}

} // namespace kadence
