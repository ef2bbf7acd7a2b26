// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Passes kadence_stores and kadence_stores_done run before and after each of the compiler's `dse`.
 * They prevent a fault of GCC 12:
 *
 *     data.nr = 66;
 *     try { data = call(); } catch (...) { use(data.nr); }
 *
 * If the call throws, it has not written `data`. `dse` deletes stores that later stores overwrite.
 * It knows about throwing calls when it compares whole stores (stmt_kills_ref_p), but not when it
 * follows stores byte by byte (clear_bytes_written_by): it deletes the first store. In a plain
 * compilation, an earlier pass usually propagates the value 66 to the handler. An inserted call, or
 * a call that delays inlining, prevents that (g++.dg/torture/pr49115.C at -Os). So in a function
 * with such a statement, these passes let `dse` follow stores only as wholes. No inserted call has
 * to be left out. -fplugin-arg-kadence-verbose prints these functions.
 */
#include "base/function_shape.h"
#include "base/passes.h"

#include <set>

namespace kadence
{
namespace
{

int usual_size;

/* Whether a statement may throw to this function, and writes memory if it does not throw. */
bool writes_unless_caught(function *fn, gimple *statement)
{
	const tree target = gimple_get_lhs(statement);

	return target && TREE_CODE(target) != SSA_NAME && stmt_can_throw_internal(fn, statement);
}

gimple *find_caught_write(function *fn)
{
	basic_block block;

	/* A statement that can throw to its own function is the last one of its block. */
	FOR_EACH_BB_FN(block, fn)
	if (gimple *last = last_statement(block))
		if (writes_unless_caught(fn, last))
			return last;
	return NULL;
}

const pass_data before_data = {
    GIMPLE_PASS, "kadence_stores", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class before_pass : public gimple_opt_pass
{
      public:
	before_pass(gcc::context *context, bool verbose)
	    : gimple_opt_pass(before_data, context), telling(verbose)
	{
	}

	opt_pass *clone() final override
	{
		return new before_pass(m_ctxt, telling);
	}

	unsigned execute(function *fn) final override
	{
		gimple *found = find_caught_write(fn);

		usual_size = param_dse_max_object_size;
		if (!found)
			return 0;
		param_dse_max_object_size = 0;
		if (telling)
			tell(fn, found);
		return 0;
	}

      private:
	const bool telling;

	static void tell(function *fn, gimple *found)
	{
		static std::set<tree> told;

		if (told.insert(fn->decl).second)
			inform(
			    gimple_location(found),
			    "stores in function %qs are not followed byte by byte: where this "
			    "throws it has not written, and GCC 12 would delete stores before it",
			    assembler_name(fn->decl).c_str());
	}
};

const pass_data after_data = {
    GIMPLE_PASS, "kadence_stores_done", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class after_pass : public gimple_opt_pass
{
      public:
	explicit after_pass(gcc::context *context) : gimple_opt_pass(after_data, context)
	{
	}

	opt_pass *clone() final override
	{
		return new after_pass(m_ctxt);
	}

	unsigned execute(function *) final override
	{
		param_dse_max_object_size = usual_size;
		return 0;
	}
};

} // namespace

opt_pass *make_store_pass(gcc::context *context, bool verbose)
{
	return new before_pass(context, verbose);
}

opt_pass *make_stores_done_pass(gcc::context *context)
{
	return new after_pass(context);
}

} // namespace kadence
