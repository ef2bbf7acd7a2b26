// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_redirect. At the plan's sites, a call that writes or flushes goes to libkadapt's
 * function of the same type: write becomes kadapt_write. A call that allocates memory, also C++'s
 * operator new, gets one more argument: the plan's treatments of the memory.
 * -fplugin-arg-kadence-verbose prints the redirected calls, and -fdump-tree-all dumps them.
 *
 * The pass runs right after the compiler's first inlining, `einline`. So a call in a small function
 * is redirected in the function's callers. The compiler does not know the redirected function, so
 * no later pass changes the call.
 *
 * The pass leaves these alone:
 *  - a malloc whose block a memset clears: the compiler may later make one calloc of both, and then
 *    pages that nobody writes are never touched;
 *  - calls through pointers and in inline assembly, which libkadapt's interposed functions see at
 *    run time;
 *  - functions of these names that the program itself defines;
 *  - with a warning, functions of these names whose declaration differs from the C library's.
 */
#include "base/function_shape.h"
#include "base/passes.h"
#include "base/warning.h"
#include "redirect/call_sites.h"
#include "redirect/library_calls.h"

namespace kadence
{
namespace
{

bool verbose;

/* The row of the table for the called function; null if there is none. */
const library_call *call_of_library(const gcall *call)
{
	const tree callee = gimple_call_fndecl(call);

	if (!callee || !DECL_EXTERNAL(callee) || !TREE_PUBLIC(callee))
		return nullptr;
	return find_library_call(assembler_name(callee));
}

bool is_well_declared(const library_call &known, const gcall *call)
{
	return has_type_of(known, TREE_TYPE(gimple_call_fndecl(call))) &&
	       has_type_of(known, gimple_call_fntype(call));
}

void redirect(gcall *call, tree target)
{
	cgraph_edge *edge = cgraph_node::get(current_function_decl)->get_edge(call);

	gimple_call_set_fndecl(call, target);
	update_stmt(call);
	if (edge)
		edge->redirect_callee(cgraph_node::get_create(target));
}

/* The same call, to `target` and with one more argument. */
gcall *build_with_treatments(gcall *call, tree target, uint32_t treatments)
{
	auto_vec<tree> arguments;

	for (unsigned index = 0; index < gimple_call_num_args(call); index++)
		arguments.safe_push(gimple_call_arg(call, index));
	arguments.safe_push(build_int_cstu(unsigned_type_node, treatments));
	gcall *longer = gimple_build_call_vec(target, arguments);
	gimple_set_location(longer, gimple_location(call));
	gimple_set_block(longer, gimple_block(call));
	gimple_call_set_lhs(longer, gimple_call_lhs(call));
	gimple_call_set_nothrow(longer, gimple_call_nothrow_p(call));
	gimple_move_vops(longer, call);
	return longer;
}

void redirect_with_treatments(gimple_stmt_iterator *gsi, tree target, uint32_t treatments)
{
	gcall *call = as_a<gcall *>(gsi_stmt(*gsi));
	cgraph_node *caller = cgraph_node::get(current_function_decl);
	cgraph_edge *edge = caller->get_edge(call);
	gcall *longer = build_with_treatments(call, target, treatments);

	if (edge) {
		cgraph_node *callee = cgraph_node::get_create(target);
		const profile_count count = edge->count;

		cgraph_edge::remove(edge);
		gsi_replace(gsi, longer, true);
		caller->create_edge(callee, longer, count);
		return;
	}
	gsi_replace(gsi, longer, true);
}

/*
 * libkadapt calls the original. If a static library before libkadapt defines the original, the
 * linker takes it only for a reference in the unit. All references may be redirected now, so keep
 * one. The C library itself comes last.
 */
void keep_in_link(const library_call &known)
{
	if (known.name[0] != '_' || known.name[1] != 'Z')
		return;
	const std::string text = std::string(".globl ") + known.name;
	symtab->finalize_toplevel_asm(build_string(text.size(), text.c_str()));
}

/*
 * With _FORTIFY_SOURCE=2 a later pass knows the block's size and turns the checked memset into a
 * plain one. With 3 the size is computed at run time, and the check stays.
 */
bool is_memset(const gimple *stmt)
{
	if (!gimple_call_builtin_p(stmt, BUILT_IN_MEMSET_CHK))
		return gimple_call_builtin_p(stmt, BUILT_IN_MEMSET);
	const tree size = gimple_call_arg(stmt, 3);
	return TREE_CODE(size) != SSA_NAME ||
	       gimple_call_builtin_p(SSA_NAME_DEF_STMT(size), BUILT_IN_OBJECT_SIZE);
}

bool is_cleared(const gcall *call, const library_call &known)
{
	const tree block = gimple_call_lhs(call);
	imm_use_iterator iterator;
	use_operand_p use;

	if (strcmp(known.name, "malloc") || !block || TREE_CODE(block) != SSA_NAME)
		return false;
	FOR_EACH_IMM_USE_FAST(use, iterator, block)
	{
		const gimple *user = USE_STMT(use);

		if (is_memset(user) && gimple_call_arg(user, 0) == block &&
		    integer_zerop(gimple_call_arg(user, 1)))
			return true;
	}
	return false;
}

void redirect_planned(gimple_stmt_iterator *gsi, const library_call &known, uint32_t treatments)
{
	gcall *call = as_a<gcall *>(gsi_stmt(*gsi));
	const tree target = counterpart_of(known, gimple_call_fndecl(call));

	if (known.kind == site_kind::io) {
		redirect(call, target);
		return;
	}
	redirect_with_treatments(gsi, target, treatments);
	keep_in_link(known);
}

void consider(gimple_stmt_iterator *gsi)
{
	const gcall *call = as_a<gcall *>(gsi_stmt(*gsi));
	const location_t place = gimple_location(call);
	const library_call *known = call_of_library(call);

	if (!known)
		return;
	const planned_call planned = plan_of(call, known->name, known->kind);
	if (!planned.is_planned || is_cleared(call, *known))
		return;
	if (!is_well_declared(*known, call)) {
		warn_skipped(place, std::string("the call of '") + known->name +
					"' is not redirected: it is declared otherwise than in "
					"the C library");
		return;
	}
	redirect_planned(gsi, *known, planned.treatments);
	if (verbose)
		inform(place, "%qs is redirected to libkadapt", known->name);
}

const pass_data redirect_pass_data = {
    GIMPLE_PASS, "kadence_redirect", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class redirect_pass : public gimple_opt_pass
{
      public:
	explicit redirect_pass(gcc::context *context) : gimple_opt_pass(redirect_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		basic_block block;

		FOR_EACH_BB_FN(block, fn)
		for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi);
		     gsi_next(&gsi))
			if (is_gimple_call(gsi_stmt(gsi)))
				consider(&gsi);
		return 0;
	}
};

} // namespace

opt_pass *make_redirect_pass(gcc::context *context, const redirecting &what)
{
	verbose = what.verbose;
	return new redirect_pass(context);
}

} // namespace kadence
