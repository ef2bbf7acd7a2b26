// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstring>

#include "layout/rounding.h"

namespace kadence
{
namespace
{

const char fused[] = "the compiler may fuse a product with a sum, or not, as the code is laid out; "
		     "with -ffp-contract=off no result depends on that";
const char reordered[] = "-ffast-math lets the compiler reorder sums as the code is laid out; "
			 "without it no result depends on that";

const char environment[] =
    "the rounding mode or the exceptions of floating-point arithmetic are used, "
    "and the compiler may move arithmetic across that as the code is laid out";

/* Those of <fenv.h>, and the first call of Fortran procedures that use the IEEE modules. */
const char *const of_environment[] = {
    "feclearexcept",
    "fegetexceptflag",
    "feraiseexcept",
    "fesetexceptflag",
    "fetestexcept",
    "fegetround",
    "fesetround",
    "fegetenv",
    "feholdexcept",
    "fesetenv",
    "feupdateenv",
    "feenableexcept",
    "fedisableexcept",
    "fegetexcept",
    "fesetmode",
    "fegetmode",
    "_gfortran_ieee_procedure_entry",
};

bool uses_environment(gimple *statement)
{
	const tree callee = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;

	if (!callee || !DECL_ASSEMBLER_NAME_SET_P(callee))
		return false;
	for (const char *name : of_environment)
		if (!strcmp(name, IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee))))
			return true;
	return false;
}

bool may_fuse()
{
	return flag_fp_contract_mode == FP_CONTRACT_FAST &&
	       (direct_internal_fn_supported_p(IFN_FMA, double_type_node, OPTIMIZE_FOR_BOTH) ||
		direct_internal_fn_supported_p(IFN_FMA, float_type_node, OPTIMIZE_FOR_BOTH));
}

bool may_reorder()
{
	return flag_associative_math || flag_reciprocal_math || flag_unsafe_math_optimizations;
}

bool is_arithmetic(gimple *statement)
{
	return is_gimple_assign(statement) &&
	       FLOAT_TYPE_P(TREE_TYPE(gimple_assign_lhs(statement))) &&
	       !gimple_assign_single_p(statement);
}

bool is_product(gimple *statement)
{
	return is_arithmetic(statement) && gimple_assign_rhs_code(statement) == MULT_EXPR;
}

bool has(function *fn, bool (*is_such)(gimple *statement))
{
	basic_block block;

	FOR_EACH_BB_FN(block, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (is_such(gsi_stmt(gsi)))
			return true;
	return false;
}

/* In the current function, whose target may have other instructions than its neighbours'. */
const char *why_it_depends()
{
	if (may_fuse() && has(cfun, is_product))
		return fused;
	if (may_reorder() && has(cfun, is_arithmetic))
		return reordered;
	if (has(cfun, uses_environment))
		return environment;
	return NULL;
}

} // namespace

rounding find_rounding()
{
	cgraph_node *node;

	FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
	{
		function *const fn = DECL_STRUCT_FUNCTION(node->decl);

		if (!fn || !fn->cfg)
			continue;
		push_cfun(fn);
		const char *const why = why_it_depends();
		pop_cfun();
		if (why)
			return {node->decl, why};
	}
	return {NULL_TREE, ""};
}

} // namespace kadence
