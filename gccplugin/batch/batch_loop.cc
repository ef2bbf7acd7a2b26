// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * This file proves little, because the loop stays (batch_build.h). The calls are the loop's only
 * effect. Every round makes one, on the same descriptor, with pieces at even distances. And if each
 * call writes its piece whole, their number is known. Conditions that are known only at run time
 * become the guard.
 */
#include "base/function_shape.h"
#include "batch/batch_count.h"
#include "batch/batch_loads.h"
#include "batch/batch_loop.h"
#include "redirect/call_sites.h"
#include "redirect/library_calls.h"

namespace kadence
{
namespace
{

/* At most this many operations lie between the result and a condition on it. */
const int deepest_condition = 8;

enum { descriptor_argument, address_argument, size_argument, flags_argument };

bool is_call_of(const gimple *statement, const char *name)
{
	const gcall *call = dyn_cast<const gcall *>(statement);
	const tree callee = call ? gimple_call_fndecl(call) : NULL_TREE;

	return callee && DECL_EXTERNAL(callee) && assembler_name(callee) == name;
}

bool is_planned_send(const gimple *statement)
{
	if (!is_call_of(statement, batched_send.name))
		return false;
	const gcall *call = as_a<const gcall *>(statement);
	return has_type_of(batched_send, gimple_call_fntype(call)) &&
	       plan_of(call, batched_send.name, site_kind::io).is_planned;
}

/* A planned write is redirected. A single send stays plain. */
bool is_batchable(const gimple *statement)
{
	return is_call_of(statement, "kadapt_write") || is_planned_send(statement);
}

void conjoin(tree &guard, tree condition)
{
	guard = fold_build2(TRUTH_AND_EXPR, boolean_type_node, guard,
			    fold_convert(boolean_type_node, unshare_expr(condition)));
}

/* Why all calls cannot move before the loop because of another statement; null if they can. */
const char *objection_to_effect(gimple *statement)
{
	if (is_gimple_debug(statement))
		return nullptr;
	if (gimple_vdef(statement) || gimple_has_side_effects(statement))
		return "it has another effect than the call";
	return gimple_could_trap_p(statement) && !gimple_vuse(statement) ? "it may trap" : nullptr;
}

const char *objection_to_load(gimple *statement)
{
	return gimple_vuse(statement) ? "it reads memory, which the call may change" : nullptr;
}

/* The first objection to another statement of the loop; null if there is none. */
const char *objection_in(const batch_loop &found, const char *(*objection_to)(gimple *))
{
	basic_block *blocks = get_loop_body(found.loop);
	const char *objection = nullptr;

	for (unsigned index = 0; index < found.loop->num_nodes && !objection; index++)
		for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[index]);
		     !gsi_end_p(gsi) && !objection; gsi_next(&gsi))
			if (gsi_stmt(gsi) != found.call)
				objection = objection_to(gsi_stmt(gsi));
	free(blocks);
	return objection;
}

/* The value of an argument before the loop; null if the rounds have different values. */
tree invariant_value(class loop *loop, tree argument)
{
	affine_iv evolution;

	if (!simple_iv(loop, loop, argument, &evolution, true) || !integer_zerop(evolution.step))
		return NULL_TREE;
	return evolution.base;
}

const char *describe_arguments(batch_loop &found)
{
	const auto value = [&](int argument) {
		return invariant_value(found.loop, gimple_call_arg(found.call, argument));
	};
	affine_iv address;

	found.descriptor = value(descriptor_argument);
	found.size = value(size_argument);
	if (found.sends)
		found.flags = value(flags_argument);
	if (!found.descriptor || !found.size || (found.sends && !found.flags))
		return "descriptor, size or flags change from piece to piece";
	if (!simple_iv(found.loop, found.loop, gimple_call_arg(found.call, address_argument),
		       &address, true))
		return "its pieces are not at even distances";
	found.base = address.base;
	found.stride = fold_convert(uint64_type_node, address.step);
	conjoin(found.guard, fold_build2(NE_EXPR, boolean_type_node, found.size,
					 build_zero_cst(TREE_TYPE(found.size))));
	tree rises =
	    fold_build2(GE_EXPR, boolean_type_node, fold_convert(intDI_type_node, found.stride),
			build_zero_cst(intDI_type_node));
	conjoin(found.guard, rises);
	return integer_zerop(rises) ? "its pieces go backwards" : nullptr;
}

/*
 * `value` if the call's result is the size, as an expression of values before the loop. Null if it
 * depends on anything else.
 */
tree when_whole(const batch_loop &found, tree value, int depth)
{
	if (is_gimple_min_invariant(value))
		return value;
	if (TREE_CODE(value) != SSA_NAME || depth > deepest_condition)
		return NULL_TREE;
	if (value == gimple_call_lhs(found.call))
		return fold_convert(TREE_TYPE(value), found.size);
	if (expr_invariant_in_loop_p(found.loop, value))
		return value;

	const gassign *definition = dyn_cast<const gassign *>(SSA_NAME_DEF_STMT(value));
	if (!definition || gimple_vuse(definition))
		return NULL_TREE;
	const enum tree_code code = gimple_assign_rhs_code(definition);
	const int operands = gimple_num_ops(definition) - 1;
	tree first = when_whole(found, gimple_assign_rhs1(definition), depth + 1);
	if (operands == 1 && first)
		return get_gimple_rhs_class(code) == GIMPLE_SINGLE_RHS
			   ? first
			   : fold_build1(code, TREE_TYPE(value), first);
	if (operands != 2 || !first)
		return NULL_TREE;
	tree second = when_whole(found, gimple_assign_rhs2(definition), depth + 1);
	return second ? fold_build2(code, TREE_TYPE(value), first, second) : NULL_TREE;
}

/* The condition that `exit` is not taken while pieces are written whole; or null. */
tree stays_when_whole(const batch_loop &found, edge exit, const gcond *condition)
{
	tree left = when_whole(found, gimple_cond_lhs(condition), 0);
	tree right = when_whole(found, gimple_cond_rhs(condition), 0);

	if (!left || !right)
		return NULL_TREE;
	tree outcome = fold_build2(gimple_cond_code(condition), boolean_type_node, left, right);
	return exit->flags & EDGE_TRUE_VALUE ? invert_truthvalue(outcome) : outcome;
}

/* `niter` rounds follow the first test. Whether the call comes before that test. */
tree calls_made(const batch_loop &found, edge exit, tree further)
{
	const basic_block call_block = gimple_bb(found.call);

	further = fold_convert(uint64_type_node, further);
	if (dominated_by_p(CDI_DOMINATORS, exit->src, call_block))
		return fold_build2(PLUS_EXPR, uint64_type_node, further,
				   build_one_cst(uint64_type_node));
	return further;
}

const char *describe_exit(batch_loop &found, edge exit)
{
	gcond *condition = safe_dyn_cast<gcond *>(last_statement(exit->src));
	tree further;

	if (!condition)
		return "it is left otherwise than by a condition";
	if (tree stays = stays_when_whole(found, exit, condition)) {
		conjoin(found.guard, stays);
		return nullptr;
	}
	if (found.count)
		return "more than one condition ends it";
	tree known = rounds_until(found.loop, exit, condition, further);
	if (!known)
		return "the number of its rounds can't be told before";
	conjoin(found.guard, known);
	found.count = calls_made(found, exit, further);
	return nullptr;
}

const char *describe_exits(batch_loop &found)
{
	auto_vec<edge> exits = get_loop_exit_edges(found.loop);

	for (edge exit : exits)
		if (const char *objection = describe_exit(found, exit))
			return objection;
	if (!found.count)
		return "nothing but an error ends it";
	/* A single piece goes into the ring. */
	conjoin(found.guard, fold_build2(GT_EXPR, boolean_type_node, found.count,
					 build_one_cst(uint64_type_node)));
	return integer_zerop(found.guard) ? "a piece written whole ends it" : nullptr;
}

} // namespace

gcall *batchable_call(const class loop *loop)
{
	basic_block *blocks = get_loop_body(loop);
	gcall *found = nullptr;

	for (unsigned index = 0; index < loop->num_nodes && !found; index++)
		for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[index]);
		     !gsi_end_p(gsi) && !found; gsi_next(&gsi))
			if (is_batchable(gsi_stmt(gsi)))
				found = as_a<gcall *>(gsi_stmt(gsi));
	free(blocks);
	return found;
}

const char *describe_batch(class loop *loop, gcall *call, batch_loop &found)
{
	found = {};
	found.loop = loop;
	found.call = call;
	found.sends = is_planned_send(call);
	found.guard = boolean_true_node;
	if (const char *objection = objection_in(found, objection_to_effect))
		return objection;
	if (stmt_ends_bb_p(call))
		return "something in the function catches what the call throws";
	if (!dominated_by_p(CDI_DOMINATORS, loop->latch, gimple_bb(call)))
		return "the call is not in every round";
	found.hoisted = hoist_loads(loop, call);
	if (const char *objection = objection_in(found, objection_to_load))
		return objection;
	if (const char *objection = describe_arguments(found))
		return objection;
	return describe_exits(found);
}

} // namespace kadence
