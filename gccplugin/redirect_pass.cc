// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_redirect: at the plan's sites, a call of the C library that writes (or reads) goes
 * to libkadapt's function of the same type instead: write becomes kadapt_write.
 * To see its work: -fplugin-arg-kadence-verbose, or the dump that -fdump-tree-all writes.
 *
 * It runs right after the compiler's first inlining, `einline`: by then the C library's fortified
 * wrappers (always_inline) are in their callers, and what the front end made of a call (fputs or
 * fwrite of an fprintf, puts of a printf) is in the table as well. A redirected call is nothing
 * that the compiler knows, so it is not turned into another one later.
 *
 * Left alone: calls through pointers and inline assembly, which libkadapt's interposed functions
 * see at run time; functions of these names that the program itself defines; with a warning,
 * functions of these names that are declared otherwise than in the C library.
 */
#include "passes.h"
#include "function_shape.h"
#include "io_calls.h"
#include "io_sites.h"
#include "warning.h"

namespace kadence
{
namespace
{

bool verbose;

/* The C library's function of the table that is called; null for any other. */
const io_call *call_of_library(const gcall *call)
{
	const tree callee = gimple_call_fndecl(call);

	if (!callee || !DECL_EXTERNAL(callee) || !TREE_PUBLIC(callee))
		return nullptr;
	return find_io_call(assembler_name(callee));
}

bool is_well_declared(const io_call &known, const gcall *call)
{
	return has_type_of(known, TREE_TYPE(gimple_call_fndecl(call))) &&
	       has_type_of(known, gimple_call_fntype(call));
}

void redirect(gcall *call, const io_call &known)
{
	const tree target = counterpart_of(known, gimple_call_fndecl(call));
	cgraph_edge *edge = cgraph_node::get(current_function_decl)->get_edge(call);

	gimple_call_set_fndecl(call, target);
	update_stmt(call);
	if (edge)
		edge->redirect_callee(cgraph_node::get_create(target));
}

void consider(gcall *call)
{
	const io_call *known = call_of_library(call);

	if (!known || !is_planned(call, known->name))
		return;
	if (!is_well_declared(*known, call)) {
		warn_skipped(gimple_location(call),
			     std::string("the call of '") + known->name +
				 "' is not redirected: it is declared otherwise than in the C "
				 "library");
		return;
	}
	redirect(call, *known);
	if (verbose)
		inform(gimple_location(call), "%qs is redirected to libkadapt", known->name);
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
			if (gcall *call = dyn_cast<gcall *>(gsi_stmt(gsi)))
				consider(call);
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
