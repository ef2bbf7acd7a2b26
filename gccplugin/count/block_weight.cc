// SPDX-License-Identifier: GPL-3.0-or-later
#include "count/block_weight.h"

#include <algorithm>

namespace kadence
{
namespace
{

/* Instructions: compare with the last case, branch, load, jump. */
enum { jump_by_table = 4 };

/* A product that becomes part of an operand: an index times the size of an element. */
bool is_addressing(gimple *statement)
{
	if (!is_gimple_assign(statement))
		return false;
	const tree_code code = gimple_assign_rhs_code(statement);
	const tree second = gimple_assign_rhs2(statement);

	return (code == POINTER_PLUS_EXPR && TREE_CODE(second) == SSA_NAME) ||
	       (code == MULT_EXPR && TREE_CODE(second) == INTEGER_CST &&
		types_compatible_p(TREE_TYPE(second), sizetype));
}

/* A call that is one instruction of the machine, or of a function that has its own blocks. */
int instructions_of_call(gcall *call, int size)
{
	const tree callee = gimple_call_fndecl(call);

	if (!callee)
		return size;
	if (lookup_attribute("always_inline", DECL_ATTRIBUTES(callee)))
		return 0;
	return fndecl_built_in_p(callee, BUILT_IN_MD) ? 1 : size;
}

/* The weights of size count all comparisons of a switch, but the program executes a jump by table.
 */
int instructions_of(gimple *statement)
{
	const int size = estimate_num_insns(statement, &eni_size_weights);

	if (is_addressing(statement))
		return 0;
	if (gcall *call = dyn_cast<gcall *>(statement))
		return instructions_of_call(call, size);
	return gimple_code(statement) == GIMPLE_SWITCH ? std::min(size, (int)jump_by_table) : size;
}

} // namespace

unsigned instructions_of(basic_block block)
{
	int sum = 0;

	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (!is_gimple_debug(gsi_stmt(gsi)))
			sum += instructions_of(gsi_stmt(gsi));
	return sum > 0 ? sum : 1;
}

} // namespace kadence
