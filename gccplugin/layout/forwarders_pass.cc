// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_forwarders mends counts that the compiler's pass cddce loses. GCC 12 joins the edges
 * on which a block's PHIs have the same arguments in a new block, a forwarder, and gives it the
 * count of one of these edges alone (tree-ssa-dce.cc, make_forwarders_with_degenerate_phis). If
 * that edge never ran, the blocks behind it can become cold code, however often the others ran.
 *
 * A block is entered as often as its edges run. So a block without code, which a forwarder is, gets
 * the sum of its edges' counts. The blocks behind it have kept their own counts.
 */
#include "base/passes.h"

namespace kadence
{
namespace
{

const pass_data forwarders_pass_data = {
    GIMPLE_PASS, "kadence_forwarders", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0,
};

bool is_forwarder(basic_block block)
{
	return EDGE_COUNT(block->preds) > 1 && single_succ_p(block) &&
	       gsi_end_p(gsi_start_nondebug_after_labels_bb(block));
}

profile_count sum_of_edges(basic_block block)
{
	profile_count sum = profile_count::zero();
	edge_iterator position;
	edge way;

	FOR_EACH_EDGE(way, position, block->preds)
	sum += way->count();
	return sum;
}

class forwarders_pass : public gimple_opt_pass
{
      public:
	explicit forwarders_pass(gcc::context *context)
	    : gimple_opt_pass(forwarders_pass_data, context)
	{
	}

	/* The compiler's guesses need no exact sums. */
	bool gate(function *fn) final override
	{
		return profile_status_for_fn(fn) == PROFILE_READ;
	}

	unsigned execute(function *fn) final override
	{
		basic_block block;

		FOR_EACH_BB_FN(block, fn)
		{
			if (!is_forwarder(block))
				continue;
			const profile_count sum = sum_of_edges(block);
			if (sum.initialized_p() && sum > block->count)
				block->count = sum;
		}
		return 0;
	}

	opt_pass *clone() final override
	{
		return new forwarders_pass(m_ctxt);
	}
};

} // namespace

opt_pass *make_forwarders_pass(gcc::context *context)
{
	return new forwarders_pass(context);
}

} // namespace kadence
