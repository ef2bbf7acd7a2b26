// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/function_shape.h"
#include "count/strip_mining.h"

namespace kadence
{
namespace
{

/* Some 10 microseconds: the hundredth part of the shortest interval that fits a run. */
const unsigned strip_statements = 1 << 15, fewest_rounds = 64;

unsigned rounds_of_strip(class loop *loop)
{
	basic_block *body = get_loop_body(loop);
	unsigned size = 1, rounds = strip_statements;

	for (unsigned index = 0; index < loop->num_nodes; index++)
		for (gimple_stmt_iterator gsi = gsi_start_bb(body[index]); !gsi_end_p(gsi);
		     gsi_next(&gsi))
			size += estimate_num_insns(gsi_stmt(gsi), &eni_size_weights);
	free(body);
	while (rounds > fewest_rounds && rounds * size > strip_statements)
		rounds /= 2;
	return rounds;
}

/* Whether another execution of the statement has no visible effect. */
bool only_computes(basic_block block)
{
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (gimple_vdef(gsi_stmt(gsi)))
			return false;
	return true;
}

bool leads_on(const loop_test &test)
{
	const bool upwards = tree_int_cst_sgn(test.evolution.step) > 0;

	switch (test.code) {
	case NE_EXPR:
		return true;
	case LT_EXPR:
	case LE_EXPR:
		return upwards;
	case GT_EXPR:
	case GE_EXPR:
		return !upwards;
	default:
		return false;
	}
}

bool is_invariant(class loop *loop, tree operand)
{
	return is_gimple_min_invariant(operand) || expr_invariant_in_loop_p(loop, operand);
}

bool read_operands(class loop *loop, tree variable, tree bound, tree_code code, loop_test &test)
{
	tree type = TREE_TYPE(variable);

	if (TREE_CODE(variable) != SSA_NAME || !is_invariant(loop, bound) ||
	    !(INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type)) || TYPE_PRECISION(type) < 32 ||
	    TYPE_PRECISION(type) > 64 || !simple_iv(loop, loop, variable, &test.evolution, true) ||
	    TREE_CODE(test.evolution.step) != INTEGER_CST || integer_zerop(test.evolution.step))
		return false;
	/* A distance of 32 bits is enough for the longest strip of such steps. */
	if (!tree_fits_shwi_p(test.evolution.step) ||
	    absu_hwi(tree_to_shwi(test.evolution.step)) > strip_statements)
		return false;
	test.variable = variable;
	test.bound = bound;
	test.code = code;
	return leads_on(test);
}

bool read_test(class loop *loop, edge exit, loop_test &test)
{
	tree_code code;

	test.statement = safe_dyn_cast<gcond *>(last_statement(exit->src));
	test.at_end = empty_block_p(loop->latch) && single_pred_p(loop->latch) &&
		      single_pred(loop->latch) == exit->src;
	if (!test.statement || (!test.at_end && exit->src != loop->header) ||
	    (!test.at_end && !only_computes(exit->src)))
		return false;
	code = gimple_cond_code(test.statement);
	if (exit->flags & EDGE_TRUE_VALUE)
		code = invert_tree_comparison(code, false);
	return read_operands(loop, gimple_cond_lhs(test.statement), gimple_cond_rhs(test.statement),
			     code, test) ||
	       read_operands(loop, gimple_cond_rhs(test.statement), gimple_cond_lhs(test.statement),
			     swap_tree_comparison(code), test);
}

/* Appends statements one by one. Each call returns the name that the statement defines. */
class writer
{
      public:
	gimple_seq code = NULL;

	tree assign(tree type, tree_code operation, tree one, tree other = NULL_TREE,
		    tree third = NULL_TREE)
	{
		tree name = make_temp_ssa_name(type, NULL, "kadence");

		gimple_seq_add_stmt(&code, gimple_build_assign(name, operation, one, other, third));
		return name;
	}
};

tree distance_type(const loop_test &test)
{
	tree type = TREE_TYPE(test.variable);

	return POINTER_TYPE_P(type) ? size_type_node : unsigned_type_for(type);
}

/* The distance of this many steps, without a sign. */
tree length_of(const loop_test &test, unsigned rounds)
{
	return build_int_cst(distance_type(test),
			     rounds * absu_hwi(tree_to_shwi(test.evolution.step)));
}

tree_code forwards(const loop_test &test)
{
	return tree_int_cst_sgn(test.evolution.step) > 0 ? PLUS_EXPR : MINUS_EXPR;
}

/* `from` plus the distance. A result that overflows is never used. */
tree further(writer &to, const loop_test &test, tree from, tree length)
{
	tree type = distance_type(test);
	tree moved = to.assign(type, forwards(test), to.assign(type, NOP_EXPR, from), length);

	return to.assign(TREE_TYPE(test.variable), NOP_EXPR, moved);
}

/* The bound of the strip that begins with the value `first`. */
tree end_of_strip(writer &to, const loop_test &test, tree first, unsigned rounds)
{
	tree unsign = distance_type(test), type = TREE_TYPE(test.variable);
	tree length = length_of(test, rounds), bound = test.bound;
	tree low = to.assign(unsign, NOP_EXPR, first), high = to.assign(unsign, NOP_EXPR, bound);
	const bool upwards = forwards(test) == PLUS_EXPR;
	tree distance = upwards ? to.assign(unsign, MINUS_EXPR, high, low)
				: to.assign(unsign, MINUS_EXPR, low, high);
	tree far = to.assign(boolean_type_node, GT_EXPR, distance, length);

	if (test.code != NE_EXPR)
		far = to.assign(boolean_type_node, BIT_AND_EXPR, far,
				to.assign(boolean_type_node, test.code, first, bound));
	return to.assign(type, COND_EXPR, far, further(to, test, first, length), bound);
}

tree base_in(basic_block preheader, const loop_test &test)
{
	gimple_seq code = NULL;
	tree base = force_gimple_operand(
	    fold_convert(TREE_TYPE(test.variable), unshare_expr(test.evolution.base)), &code, true,
	    NULL_TREE);
	gimple_stmt_iterator gsi = gsi_last_bb(preheader);

	gsi_insert_seq_after(&gsi, code, GSI_NEW_STMT);
	return base;
}

/* A name for the value of the header's name at the beginning of a strip. */
void pass_through(basic_block strip, edge first, edge again, gphi *own, tree next, edge inwards)
{
	tree name = copy_ssa_name(gimple_phi_result(own));
	gphi *outer = create_phi_node(name, strip);

	add_phi_arg(outer, PHI_ARG_DEF_FROM_EDGE(own, inwards), first,
		    gimple_phi_arg_location_from_edge(own, inwards));
	add_phi_arg(outer, next, again, UNKNOWN_LOCATION);
	SET_USE(PHI_ARG_DEF_PTR_FROM_EDGE(own, inwards), name);
}

void compare_with(loop_test &test, tree end)
{
	if (gimple_cond_lhs(test.statement) == test.variable)
		gimple_cond_set_rhs(test.statement, end);
	else
		gimple_cond_set_lhs(test.statement, end);
	update_stmt(test.statement);
}

/* Splits a fall-through. The new block goes to `other` if the comparison holds. */
edge branch(basic_block block, tree_code code, tree one, tree another, basic_block other)
{
	edge onwards = single_succ_edge(block);
	gimple_stmt_iterator gsi = gsi_last_bb(block);

	gsi_insert_after(&gsi, gimple_build_cond(code, one, another, NULL_TREE, NULL_TREE),
			 GSI_NEW_STMT);
	onwards->flags = (onwards->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
	edge made = make_edge(block, other, EDGE_TRUE_VALUE);
	made->probability = profile_probability::very_unlikely();
	onwards->probability = made->probability.invert();
	return made;
}

void add_outer_loop(class loop *loop, edge exit, loop_test &test, unsigned rounds, strips &made)
{
	edge first = loop_preheader_edge(loop), latch = loop_latch_edge(loop);
	tree base = base_in(first->src, test);
	basic_block strip = split_edge(first), left = split_edge(exit);
	edge inwards = single_succ_edge(strip);
	writer at_exit, at_strip;
	tree type = TREE_TYPE(test.variable);
	tree next = test.variable;

	if (test.at_end)
		next = further(at_exit, test, test.variable, length_of(test, 1));
	gimple_stmt_iterator gsi = gsi_last_bb(left);
	gsi_insert_seq_after(&gsi, at_exit.code, GSI_NEW_STMT);
	made = {single_succ_edge(left), NULL, NULL, test.at_end};
	made.again = branch(left, test.code, test.variable, test.bound, strip);
	for (gphi_iterator own = gsi_start_phis(loop->header); !gsi_end_p(own); gsi_next(&own))
		pass_through(strip, first, made.again, own.phi(),
			     test.at_end ? PHI_ARG_DEF_FROM_EDGE(own.phi(), latch)
					 : gimple_phi_result(own.phi()),
			     inwards);
	gphi *begins = create_phi_node(make_temp_ssa_name(type, NULL, "kadence"), strip);
	add_phi_arg(begins, base, first, UNKNOWN_LOCATION);
	add_phi_arg(begins, next, made.again, UNKNOWN_LOCATION);
	compare_with(test, end_of_strip(at_strip, test, gimple_phi_result(begins), rounds));
	gsi = gsi_after_labels(strip);
	gsi_insert_seq_before(&gsi, at_strip.code, GSI_SAME_STMT);
}

void count_down(class loop *loop, unsigned rounds, strips &made)
{
	edge first = loop_preheader_edge(loop);
	tree left = create_tmp_reg(unsigned_type_node, "kadence");
	tree whole = build_int_cst(unsigned_type_node, rounds);
	basic_block check = split_edge(loop_latch_edge(loop));
	basic_block refill = split_edge(single_succ_edge(check));
	gimple_stmt_iterator gsi = gsi_last_bb(first->src);

	gsi_insert_after(&gsi, gimple_build_assign(left, whole), GSI_NEW_STMT);
	gsi = gsi_last_bb(check);
	gsi_insert_after(
	    &gsi, gimple_build_assign(left, MINUS_EXPR, left, build_one_cst(unsigned_type_node)),
	    GSI_NEW_STMT);
	gsi = gsi_last_bb(refill);
	gsi_insert_after(&gsi, gimple_build_assign(left, whole), GSI_NEW_STMT);
	made = {NULL, NULL, single_succ_edge(refill), false};
	edge onwards =
	    branch(check, NE_EXPR, left, build_zero_cst(unsigned_type_node), loop->header);
	edge empty = single_pred_edge(refill);
	std::swap(onwards->probability, empty->probability);
	for (gphi_iterator own = gsi_start_phis(loop->header); !gsi_end_p(own); gsi_next(&own))
		add_phi_arg(own.phi(), PHI_ARG_DEF_FROM_EDGE(own.phi(), made.refill), onwards,
			    gimple_phi_arg_location_from_edge(own.phi(), made.refill));
}

} // namespace

bool strip_plan::read(class loop *read, const std::vector<edge> &exits)
{
	const HOST_WIDE_INT most = max_loop_iterations_int(read);

	loop = read;
	rounds = rounds_of_strip(read);
	if ((most >= 0 && most <= rounds) || !single_succ_p(read->latch) ||
	    !single_succ_p(loop_preheader_edge(read)->src))
		return false;
	exit = exits.size() == 1 && read_test(read, exits[0], test) ? exits[0] : NULL;
	return true;
}

strips strip_plan::cut()
{
	strips made;

	if (exit)
		add_outer_loop(loop, exit, test, rounds, made);
	else
		count_down(loop, rounds, made);
	return made;
}

} // namespace kadence
