// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The compiler counts the rounds of loops with a constant step. If a loop advances by the size of a
 * piece (offset += size), the step is known only at run time. This file counts such rounds, in
 * 64-bit arithmetic without overflow. A guard excludes runs in which the program's own arithmetic
 * wraps.
 */
#include "batch/batch_count.h"

namespace kadence
{
namespace
{

/* A test `value code bound` that stays in the loop if true. Each round changes the value by step.
 */
struct staying {
	enum tree_code code;
	affine_iv value;
	tree bound;
	tree type;
	bool falls; /* the step is subtracted, not added */
};

tree wide(tree value)
{
	return fold_convert(uint64_type_node, value);
}

tree binary(enum tree_code code, tree left, tree right)
{
	return fold_build2(code, uint64_type_node, left, right);
}

tree test(enum tree_code code, tree left, tree right)
{
	return fold_build2(code, boolean_type_node, left, right);
}

tree both(tree one, tree other)
{
	return fold_build2(TRUTH_AND_EXPR, boolean_type_node, one, other);
}

bool is_invariant(class loop *loop, tree operand, tree &value)
{
	affine_iv evolution;

	if (!simple_iv(loop, loop, operand, &evolution, true) || !integer_zerop(evolution.step))
		return false;
	value = evolution.base;
	return true;
}

/* The test with the changing value on its left side. */
bool find_value(class loop *loop, tree left, tree right, staying &found)
{
	if (!is_invariant(loop, right, found.bound)) {
		std::swap(left, right);
		found.code = swap_tree_comparison(found.code);
		if (!is_invariant(loop, right, found.bound))
			return false;
	}
	found.type = TREE_TYPE(left);
	return simple_iv(loop, loop, left, &found.value, true);
}

bool is_negated(tree step)
{
	STRIP_NOPS(step);
	return TREE_CODE(step) == NEGATE_EXPR ||
	       (TREE_CODE(step) == INTEGER_CST && wi::neg_p(wi::to_wide(step), SIGNED));
}

/* The direction of the value. If the test is an inequality, the form of the step may tell. */
bool find_direction(staying &found)
{
	switch (found.code) {
	case LT_EXPR:
	case LE_EXPR:
		found.falls = false;
		return true;
	case GT_EXPR:
	case GE_EXPR:
		found.falls = true;
		return true;
	case NE_EXPR:
		found.falls = is_negated(found.value.step);
		return true;
	default:
		return false;
	}
}

bool is_countable_type(tree type)
{
	if (POINTER_TYPE_P(type))
		return true;
	if (!INTEGRAL_TYPE_P(type) || TYPE_PRECISION(type) > 64)
		return false;
	return TYPE_UNSIGNED(type) || TYPE_OVERFLOW_UNDEFINED(type);
}

bool find_staying(class loop *loop, edge exit, const gcond *condition, staying &found)
{
	found.code = gimple_cond_code(condition);
	if (exit->flags & EDGE_TRUE_VALUE)
		found.code = invert_tree_comparison(found.code, false);
	return found.code != ERROR_MARK &&
	       find_value(loop, gimple_cond_lhs(condition), gimple_cond_rhs(condition), found) &&
	       is_countable_type(found.type) && find_direction(found);
}

/* The absolute value of the step, in the width of the value. */
tree magnitude(const staying &of)
{
	tree type = POINTER_TYPE_P(of.type) ? sizetype : unsigned_type_for(of.type);
	tree step = fold_convert(type, of.value.step);

	return wide(of.falls ? fold_build1(NEGATE_EXPR, type, step) : step);
}

/* The condition that the step leads towards the bound. An unsigned step always does, unless it
 * wraps, which arrives() excludes. */
tree leads_there(const staying &of, tree step)
{
	tree moves = test(NE_EXPR, step, build_zero_cst(uint64_type_node));

	if (POINTER_TYPE_P(of.type) || !TYPE_UNSIGNED(of.type))
		return both(moves, test(GT_EXPR, fold_convert(intDI_type_node, step),
					build_zero_cst(intDI_type_node)));
	return moves;
}

/*
 * The condition that the value does not wrap before it is `excess` past the bound. A signed value
 * or a pointer must not wrap in a valid program.
 */
tree arrives(const staying &of, tree excess)
{
	if (POINTER_TYPE_P(of.type) || !TYPE_UNSIGNED(of.type))
		return boolean_true_node;
	tree bound = wide(of.bound);
	tree room = of.falls ? bound : binary(MINUS_EXPR, wide(TYPE_MAX_VALUE(of.type)), bound);
	return test(LE_EXPR, excess, room);
}

/* The condition that the value has not passed the bound. */
tree begins_before(const staying &of)
{
	tree base = of.value.base, bound = fold_convert(TREE_TYPE(base), of.bound);

	return test(of.falls ? GE_EXPR : LE_EXPR, base, bound);
}

/* The number of rounds. The guard ensures that the step is not 0. */
tree count_rounds(const staying &of, tree &further)
{
	tree from = wide(of.value.base), to = wide(of.bound);
	tree way = of.falls ? binary(MINUS_EXPR, from, to) : binary(MINUS_EXPR, to, from);
	tree step = magnitude(of);
	tree divisor = binary(MAX_EXPR, step, build_one_cst(uint64_type_node));
	tree whole = binary(TRUNC_DIV_EXPR, way, divisor);
	tree rest = binary(TRUNC_MOD_EXPR, unshare_expr(way), unshare_expr(divisor));
	tree goes_over = test(NE_EXPR, rest, build_zero_cst(uint64_type_node));
	tree known = both(begins_before(of), leads_there(of, step));

	if (of.code == NE_EXPR) {
		further = whole;
		return both(known, invert_truthvalue(goes_over));
	}
	if (of.code == LE_EXPR || of.code == GE_EXPR)
		further = binary(PLUS_EXPR, whole, build_one_cst(uint64_type_node));
	else
		further = binary(PLUS_EXPR, whole, wide(goes_over));
	tree excess = binary(MINUS_EXPR, binary(MULT_EXPR, further, step), way);
	return both(known, arrives(of, excess));
}

} // namespace

tree rounds_until(class loop *loop, edge exit, const gcond *condition, tree &further)
{
	class tree_niter_desc rounds;
	staying found;

	if (!dominated_by_p(CDI_DOMINATORS, loop->latch, exit->src))
		return NULL_TREE;
	if (number_of_iterations_exit_assumptions(loop, exit, &rounds, NULL)) {
		further = rounds.niter;
		return both(rounds.assumptions, invert_truthvalue(rounds.may_be_zero));
	}
	if (!find_staying(loop, exit, condition, found))
		return NULL_TREE;
	return count_rounds(found, further);
}

} // namespace kadence
