// SPDX-License-Identifier: GPL-3.0-or-later
#include "batch/batch_loads.h"

namespace kadence
{
namespace
{

bool is_unchanged_by(gcall *call, tree reference)
{
	const tree base = get_base_address(reference);

	if (!base)
		return false;
	if (VAR_P(base) && DECL_THREAD_LOCAL_P(base))
		return false;
	if (DECL_P(base) || TREE_CODE(reference) == COMPONENT_REF)
		return true;
	return !stmt_may_clobber_ref_p(call, reference);
}

/* Whether the first round always reaches the block. */
bool is_reached_at_once(const class loop *loop, gimple *statement, gcall *call)
{
	if (gimple_bb(statement) != loop->header)
		return false;
	return gimple_bb(call) != loop->header || stmt_dominates_stmt_p(statement, call);
}

bool has_fixed_address(const class loop *loop, gimple *load)
{
	ssa_op_iter iterator;
	tree operand;

	FOR_EACH_SSA_TREE_OPERAND(operand, load, iterator, SSA_OP_USE)
	if (!expr_invariant_in_loop_p(const_cast<class loop *>(loop), operand))
		return false;
	return true;
}

bool can_be_hoisted(const class loop *loop, gimple *statement, gcall *call)
{
	if (!gimple_assign_load_p(statement) || gimple_vdef(statement) ||
	    gimple_has_side_effects(statement) || stmt_ends_bb_p(statement))
		return false;
	tree reference = gimple_assign_rhs1(statement);
	return has_fixed_address(loop, statement) && is_unchanged_by(call, reference) &&
	       (!tree_could_trap_p(reference) || is_reached_at_once(loop, statement, call));
}

void hoist(class loop *loop, gimple_stmt_iterator *from)
{
	gimple *load = gsi_stmt(*from);
	edge entry = loop_preheader_edge(loop);
	gimple_stmt_iterator to = gsi_last_bb(entry->src);
	gphi *memory = get_virtual_phi(loop->header);

	gsi_remove(from, false);
	/* The loop's call changes memory, so the loop's header has a name for the memory. */
	SET_USE(gimple_vuse_op(load), PHI_ARG_DEF_FROM_EDGE(memory, entry));
	reset_flow_sensitive_info(gimple_assign_lhs(load));
	gsi_insert_after(&to, load, GSI_NEW_STMT);
}

} // namespace

bool hoist_loads(class loop *loop, gcall *call)
{
	/* In this order, the operands of an address move before the load from it. */
	basic_block *blocks = get_loop_body_in_dom_order(loop);
	bool changed = false;

	for (unsigned index = 0; index < loop->num_nodes; index++)
		for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[index]); !gsi_end_p(gsi);) {
			if (can_be_hoisted(loop, gsi_stmt(gsi), call)) {
				hoist(loop, &gsi);
				changed = true;
			} else {
				gsi_next(&gsi);
			}
		}
	free(blocks);
	return changed;
}

} // namespace kadence
