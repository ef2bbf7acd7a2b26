// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_phases inserts `kadapt_phase_enter(phase)` at the plan's markers: at a function's
 * entry, or on the edges that enter a loop. If the profile counted blocks by their names, the call
 * goes to the end of the only block that leads into the loop. Then the marker fires as often as the
 * profile counted. -fplugin-arg-kadence-verbose prints the markers, and -fdump-tree-all dumps them.
 *
 * The pass leaves these unmarked, and warns with the function's name:
 *  - a function that changed since the profile;
 *  - a function that may not make calls: naked, no_instrument_function, an interrupt handler, or a
 *    resolver of an indirect function, which runs before the program is relocated;
 *  - a loop in a function that keeps values in named registers.
 * A loop that a computed goto enters is no loop to the compiler.
 *
 * Known inaccuracy: the compiler may merge calls of a function that is declared const or pure, and
 * the marker in it then fires less often.
 */
#include "base/function_shape.h"
#include "base/passes.h"
#include "base/warning.h"
#include "mark/phase_call.h"
#include "plan/plan_object.h"

namespace kadence
{
namespace
{

struct marking current;

std::string describe(const marker &item)
{
	return "the marker of phase " + std::to_string(item.phase) + " in function '" +
	       item.function + "' is skipped: ";
}

/* Why nothing may be inserted into `fn`; null if it may. */
const char *objection_to_function(function *fn)
{
	const tree attributes = DECL_ATTRIBUTES(fn->decl);

	if (POINTER_SIZE != 64)
		return "libkadapt is for 64-bit programs";
	if (lookup_attribute("naked", attributes))
		return "the function is naked";
	if (lookup_attribute("interrupt", TYPE_ATTRIBUTES(TREE_TYPE(fn->decl))))
		return "the function is an interrupt handler";
	if (lookup_attribute("no_instrument_function", attributes))
		return "the function has the attribute no_instrument_function";
	if (resolves_indirect_function(fn))
		return "the function runs before the program is relocated";
	if (is_phase_call(fn->decl))
		return "the function is the phase call itself";
	return nullptr;
}

/* Such variables live in registers that a call may overwrite. */
bool has_register_variables(function *fn)
{
	if (!fn->local_decls)
		return false;
	for (tree variable : *fn->local_decls)
		if (VAR_P(variable) && DECL_HARD_REGISTER(variable))
			return true;
	return false;
}

/* The edges that enter the loop of this header: those from blocks that it does not dominate. */
std::vector<edge> entry_edges(basic_block header)
{
	std::vector<edge> found;

	for (edge candidate : *header->preds)
		if (!dominated_by_p(CDI_DOMINATORS, candidate->src, header))
			found.push_back(candidate);
	return found;
}

class function_marker
{
      public:
	function_marker(function *compiled, const function_shape &of) : fn(compiled), shape(of)
	{
	}

	void mark_all()
	{
		if (objection_to_function(fn))
			return;
		insert_at_entry(0);
		for (const loop_shape &loop : shape.loops)
			if (!objection_to_loop(loop))
				insert_before_loop(loop, 0);
	}

	void mark(const marker &item)
	{
		const std::string objection = objection_to(item);

		if (!objection.empty()) {
			warn_skipped(DECL_SOURCE_LOCATION(fn->decl), describe(item) + objection);
			return;
		}
		if (item.kind == marker_kind::function_entry)
			insert_at_entry(item.phase);
		else if (item.block)
			insert_at_end(BASIC_BLOCK_FOR_FN(fn, item.block), item.phase);
		else
			insert_before_loop(shape.loops[item.loop], item.phase);
		if (current.verbose)
			tell(item);
	}

	bool changed() const
	{
		return inserted;
	}

      private:
	function *const fn;
	const function_shape &shape;
	bool inserted = false;

	std::string objection_to(const marker &item) const
	{
		if (item.verified && item.cfg_checksum != shape.cfg_checksum)
			return why_changed(item.cfg_checksum, shape);
		if (const char *objection = objection_to_function(fn))
			return objection;
		return item.kind == marker_kind::function_entry ? objection_to_entry(item)
								: objection_to_loop(item);
	}

	static std::string misses(const std::string &what)
	{
		return "the function changed since the profile (it has no " + what +
		       "); profile it anew";
	}

	std::string objection_to_entry(const marker &item) const
	{
		return item.block && item.block != shape.entry
			   ? misses("block " + std::to_string(item.block) + " that begins it")
			   : "";
	}

	std::string objection_to_loop(const marker &item) const
	{
		if (item.loop >= shape.loops.size())
			return misses("loop " + std::to_string(item.loop));
		const loop_shape &loop = shape.loops[item.loop];
		if (item.block && item.block != loop.before)
			return misses("block " + std::to_string(item.block) + " before loop " +
				      std::to_string(item.loop));
		const char *objection = objection_to_loop(loop);
		return objection ? objection : "";
	}

	const char *objection_to_loop(const loop_shape &loop) const
	{
		if (has_register_variables(fn))
			return "the function keeps variables in named registers";
		for (edge entry : entry_edges(loop.header))
			if (entry->flags & EDGE_COMPLEX)
				return "an exception, a setjmp or a computed jump enters the loop";
		return nullptr;
	}

	void insert_at_entry(uint32_t phase)
	{
		insert_on(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fn)), phase);
	}

	/* Each edge that enters the loop gets its own call, so each entry makes one call. */
	void insert_before_loop(const loop_shape &loop, uint32_t phase)
	{
		for (edge entry : entry_edges(loop.header))
			insert_on(entry, phase);
	}

	gimple *located_call(uint32_t phase) const
	{
		gimple *call = build_phase_call(phase);

		gimple_set_location(call, DECL_SOURCE_LOCATION(fn->decl));
		return call;
	}

	void insert_on(edge where, uint32_t phase)
	{
		gimple *call = located_call(phase);

		gsi_insert_on_edge_immediate(where, call);
		connect(call);
	}

	/* Debug statements at the end are no code. */
	void insert_at_end(basic_block block, uint32_t phase)
	{
		gimple *call = located_call(phase), *last = last_statement(block);
		gimple_stmt_iterator gsi = last ? gsi_for_stmt(last) : gsi_after_labels(block);

		if (last && !stmt_ends_bb_p(last))
			gsi_insert_after(&gsi, call, GSI_SAME_STMT);
		else
			gsi_insert_before(&gsi, call, GSI_SAME_STMT);
		connect(call);
	}

	void connect(gimple *call)
	{
		cgraph_node::get(fn->decl)->create_edge(
		    cgraph_node::get_create(gimple_call_fndecl(call)), as_a<gcall *>(call),
		    gimple_bb(call)->count);
		inserted = true;
	}

	void tell(const marker &item) const
	{
		inform(DECL_SOURCE_LOCATION(fn->decl), "phase %u is announced in function %qs%s",
		       item.phase, item.function.c_str(),
		       item.verified
			   ? ""
			   : " (not verified: the profile has no checksum of its function)");
	}
};

const pass_data marker_pass_data = {
    GIMPLE_PASS, "kadence_phases", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class marker_pass : public gimple_opt_pass
{
      public:
	explicit marker_pass(gcc::context *context) : gimple_opt_pass(marker_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		const function_shape shape = shape_of(fn);
		function_marker marker(fn, shape);

		calculate_dominance_info(CDI_DOMINATORS);
		if (current.mark_all)
			marker.mark_all();
		if (current.plan)
			mark_from_plan(marker, shape);
		free_dominance_info(CDI_DOMINATORS);
		return marker.changed() ? TODO_update_ssa_only_virtuals : 0;
	}

      private:
	static void mark_under_name(function_marker &marker, const std::string &name,
				    const std::string &file)
	{
		for (const auto *item : markers_of(*current.plan, name, file))
			marker.mark(*item);
	}

	static void mark_from_plan(function_marker &marker, const function_shape &shape)
	{
		mark_under_name(marker, shape.name, shape.file);
		for (const std::string &alias : shape.aliases)
			mark_under_name(marker, alias, shape.file);
		if (marker.changed())
			define_plan_object(*current.plan);
	}
};

} // namespace

opt_pass *make_marker_pass(gcc::context *context, const marking &what)
{
	current = what;
	return new marker_pass(context);
}

} // namespace kadence
