// SPDX-License-Identifier: GPL-3.0-or-later
#include "batch/batch_build.h"

namespace kadence
{
namespace
{

/* Values that exist before the loop begins. */
struct outcome {
	tree done; /* number of pieces written whole, or -1; a name */
	tree last; /* result of the call for the next piece; a name */
	tree size; /* result of the call for each whole piece; a name or constant */
};

/* The expression as an operand, computed at the end of `block`. */
tree computed_in(basic_block block, tree expression)
{
	gimple_seq statements;
	tree operand = force_gimple_operand(unshare_expr(expression), &statements, true, NULL_TREE);
	gimple_stmt_iterator end = gsi_last_bb(block);

	if (statements)
		gsi_insert_seq_after(&end, statements, GSI_NEW_STMT);
	return operand;
}

void append_to(basic_block block, gimple *statement)
{
	gimple_stmt_iterator end = gsi_last_bb(block);

	gsi_insert_after(&end, statement, GSI_NEW_STMT);
}

tree declare_batch_call(bool sends)
{
	tree type = build_function_type_list(
	    intDI_type_node, integer_type_node, const_ptr_type_node, uint64_type_node,
	    uint64_type_node, uint64_type_node, sends ? integer_type_node : ptr_type_node,
	    sends ? ptr_type_node : NULL_TREE, NULL_TREE);
	tree decl = build_fn_decl(sends ? "kadapt_batch_send" : "kadapt_batch_write", type);

	TREE_NOTHROW(decl) = 0; /* a cancellation point, as the calls that it replaces */
	return decl;
}

/* The call, at the end of `block`, and the value that it stores in memory. */
outcome append_batch_call(const batch_loop &what, basic_block block)
{
	tree last = create_tmp_var(intDI_type_node, "kadapt_last");
	tree size = computed_in(block, fold_convert(uint64_type_node, what.size));
	outcome found;

	TREE_ADDRESSABLE(last) = 1;
	auto_vec<tree> arguments;
	arguments.safe_push(computed_in(block, fold_convert(integer_type_node, what.descriptor)));
	arguments.safe_push(computed_in(block, fold_convert(const_ptr_type_node, what.base)));
	arguments.safe_push(size);
	arguments.safe_push(computed_in(block, what.stride));
	arguments.safe_push(computed_in(block, what.count));
	if (what.sends)
		arguments.safe_push(
		    computed_in(block, fold_convert(integer_type_node, what.flags)));
	arguments.safe_push(build_fold_addr_expr(last));

	gcall *call = gimple_build_call_vec(declare_batch_call(what.sends), arguments);
	found.done = make_ssa_name(intDI_type_node, call);
	gimple_call_set_lhs(call, found.done);
	gimple_set_location(call, gimple_location(what.call));
	append_to(block, call);
	gassign *load = gimple_build_assign(make_ssa_name(intDI_type_node), last);
	append_to(block, load);
	found.last = gimple_assign_lhs(load);
	found.size = size;
	return found;
}

/* The value after both paths meet: `name` from `from`, else `otherwise`. */
tree merge(basic_block join, edge from, tree name, edge other, tree otherwise)
{
	gphi *phi = create_phi_node(make_ssa_name(TREE_TYPE(name)), join);

	add_phi_arg(phi, name, from, UNKNOWN_LOCATION);
	add_phi_arg(phi, otherwise, other, UNKNOWN_LOCATION);
	return gimple_phi_result(phi);
}

/* Adds an edge that is taken if the condition is true. `edge_on` is taken if it is false. */
edge branch(edge edge_on, basic_block target, enum tree_code code, tree left, tree right)
{
	append_to(edge_on->src, gimple_build_cond(code, left, right, NULL_TREE, NULL_TREE));
	edge_on->flags = (edge_on->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
	edge taken = make_edge(edge_on->src, target, EDGE_TRUE_VALUE);
	taken->probability = profile_probability::very_likely();
	edge_on->probability = taken->probability.invert();
	return taken;
}

/*
 *	guard ---> batch
 *	  \         |
 *	   `---> merged ---> the loop's header
 */
outcome build_before(const batch_loop &what)
{
	basic_block test = split_edge(loop_preheader_edge(what.loop));
	tree guard = computed_in(test, what.guard);
	basic_block batch = split_edge(single_succ_edge(test));
	basic_block merged = split_edge(single_succ_edge(batch));
	outcome found = append_batch_call(what, batch);
	edge around = single_succ_edge(test);
	edge from_batch = single_succ_edge(batch);

	/* The condition is inverted: the existing edge leads to the batch. */
	edge skipping = branch(around, merged, EQ_EXPR, guard, boolean_false_node);
	skipping->probability = profile_probability::unlikely();
	around->probability = skipping->probability.invert();
	found.done =
	    merge(merged, from_batch, found.done, skipping, build_minus_one_cst(intDI_type_node));
	found.last =
	    merge(merged, from_batch, found.last, skipping, build_zero_cst(intDI_type_node));
	if (!is_gimple_min_invariant(found.size))
		found.size = merge(merged, from_batch, found.size, skipping,
				   build_zero_cst(uint64_type_node));
	found.size = computed_in(merged, fold_convert(intDI_type_node, found.size));
	return found;
}

tree build_index(class loop *loop)
{
	gimple_stmt_iterator place;
	bool after;
	tree index;

	standard_iv_increment_position(loop, &place, &after);
	create_counter(intDI_type_node, loop, &place, after, &index);
	return index;
}

edge split_before(gimple *statement)
{
	gimple_stmt_iterator place = gsi_for_stmt(statement);

	gsi_prev(&place);
	if (gsi_end_p(place))
		return split_block_after_labels(gimple_bb(statement));
	return split_block(gimple_bb(statement), gsi_stmt(place));
}

/* From here on, the looked-up or returned value replaces the call's result. */
void merge_results(basic_block join, gcall *call, const outcome &found, edge whole, edge failed)
{
	tree result = gimple_call_lhs(call);

	if (!result)
		return;
	tree own = copy_ssa_name(result);
	edge called = single_succ_edge(gimple_bb(call));
	gimple_call_set_lhs(call, own);
	SSA_NAME_DEF_STMT(own) = call;
	update_stmt(call);
	gphi *phi = create_phi_node(result, join);
	add_phi_arg(phi, found.size, whole, UNKNOWN_LOCATION);
	add_phi_arg(phi, found.last, failed, UNKNOWN_LOCATION);
	add_phi_arg(phi, own, called, UNKNOWN_LOCATION);
}

/* The size if index < done, the last result if index == done, else the call's result. */
void look_up_results(gcall *call, tree index, const outcome &found)
{
	edge before = split_before(call);
	basic_block join = split_block(before->dest, call)->dest;
	basic_block second = split_edge(before);
	edge first_on = single_pred_edge(second);
	edge whole = branch(first_on, join, LT_EXPR, index, found.done);
	edge failed = branch(single_succ_edge(second), join, EQ_EXPR, index, found.done);

	merge_results(join, call, found, whole, failed);
}

} // namespace

void build_batch(const batch_loop &what)
{
	const outcome found = build_before(what);

	look_up_results(what.call, build_index(what.loop), found);
	mark_virtual_operands_for_renaming(cfun);
}

} // namespace kadence
