// SPDX-License-Identifier: GPL-3.0-or-later
#include "layout/labels.h"

namespace kadence
{
namespace
{

tree label_in(tree address)
{
	STRIP_NOPS(address);
	if (TREE_CODE(address) != ADDR_EXPR || TREE_CODE(TREE_OPERAND(address, 0)) != LABEL_DECL)
		return NULL_TREE;
	return TREE_OPERAND(address, 0);
}

/* For walk_tree(): stops at a difference that has a label of the function. */
tree find_difference(tree *place, int *, void *function)
{
	if (TREE_CODE(*place) != MINUS_EXPR && TREE_CODE(*place) != POINTER_DIFF_EXPR)
		return NULL_TREE;
	for (int operand = 0; operand < 2; operand++) {
		const tree label = label_in(TREE_OPERAND(*place, operand));
		if (label && DECL_CONTEXT(label) == (tree)function)
			return *place;
	}
	return NULL_TREE;
}

} // namespace

bool has_subtracted_labels(tree function)
{
	varpool_node *node;

	if (!DECL_STRUCT_FUNCTION(function)->has_forced_label_in_static)
		return false;
	FOR_EACH_VARIABLE(node)
	if (DECL_INITIAL(node->decl) && DECL_INITIAL(node->decl) != error_mark_node &&
	    walk_tree(&DECL_INITIAL(node->decl), find_difference, function, NULL))
		return true;
	return false;
}

} // namespace kadence
