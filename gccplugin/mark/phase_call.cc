// SPDX-License-Identifier: GPL-3.0-or-later
#include "mark/phase_call.h"

namespace kadence
{
namespace
{

const char function_name[] = "kadapt_phase_enter";

tree declaration;

/*
 * `leaf`: the call comes back only by returning. Without `leaf`, a function that calls setjmp would
 * need an abnormal edge at every call. The call may read and write memory.
 */
tree declare()
{
	tree type = build_function_type_list(void_type_node, uint32_type_node, NULL_TREE);
	tree decl = build_fn_decl(function_name, type);

	TREE_PUBLIC(decl) = 1;
	DECL_EXTERNAL(decl) = 1;
	DECL_ARTIFICIAL(decl) = 1;
	TREE_NOTHROW(decl) = 1;
	DECL_ATTRIBUTES(decl) = tree_cons(get_identifier("leaf"), NULL_TREE, DECL_ATTRIBUTES(decl));
	return decl;
}

} // namespace

void register_phase_call_roots(const char *plugin_name)
{
	static const ggc_root_tab roots[] = {
	    {&declaration, 1, sizeof(declaration), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
	    LAST_GGC_ROOT_TAB,
	};

	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));
}

gimple *build_phase_call(uint32_t phase)
{
	if (!declaration)
		declaration = declare();
	return gimple_build_call(declaration, 1, build_int_cstu(uint32_type_node, phase));
}

bool is_phase_call(tree decl)
{
	return id_equal(DECL_ASSEMBLER_NAME(decl), function_name);
}

} // namespace kadence
