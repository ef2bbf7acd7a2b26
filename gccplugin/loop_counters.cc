// SPDX-License-Identifier: GPL-3.0-or-later
#include "loop_counters.h"
#include "count_tables.h"
#include "function_shape.h"

namespace kadence
{
namespace
{

/* What the type says is not looked at: the array ends where the unit's counters do. */
const unsigned most_counters = 1 << 24;

/* A register is rarely as costly as memory, but never free. */
const unsigned register_share = 4;

tree counters;

/*
 * Defined by the assembler's text that count_tables.cc writes when all is known; a hidden symbol,
 * so that its place in a thread's memory is known when the program is linked or loaded.
 */
tree declare_counters()
{
	tree type = build_array_type_nelts(uint64_type_node, most_counters);
	tree decl = build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier(counters_name), type);

	TREE_PUBLIC(decl) = 1;
	DECL_EXTERNAL(decl) = 1;
	DECL_ARTIFICIAL(decl) = 1;
	DECL_IGNORED_P(decl) = 1;
	TREE_USED(decl) = 1;
	DECL_VISIBILITY(decl) = VISIBILITY_HIDDEN;
	DECL_VISIBILITY_SPECIFIED(decl) = 1;
	set_decl_tls_model(decl, flag_shlib ? TLS_MODEL_INITIAL_EXEC : TLS_MODEL_LOCAL_EXEC);
	return decl;
}

tree reference_to(unsigned counter)
{
	if (!counters)
		counters = declare_counters();
	tree reference =
	    build4(ARRAY_REF, uint64_type_node, counters, size_int(counter), NULL_TREE, NULL_TREE);

	TREE_THIS_VOLATILE(reference) = 1;
	TREE_SIDE_EFFECTS(reference) = 1;
	return reference;
}

gimple_seq add_to_memory(unsigned counter, tree amount)
{
	tree before = make_temp_ssa_name(uint64_type_node, NULL, "kadence");
	tree after = make_temp_ssa_name(uint64_type_node, NULL, "kadence");
	gimple_seq code = NULL;

	gimple_seq_add_stmt(&code, gimple_build_assign(before, reference_to(counter)));
	gimple_seq_add_stmt(&code, gimple_build_assign(after, PLUS_EXPR, before, amount));
	gimple_seq_add_stmt(&code, gimple_build_assign(reference_to(counter), after));
	return code;
}

bool is_counter(tree operand)
{
	return operand && TREE_CODE(operand) == ARRAY_REF && TREE_OPERAND(operand, 0) == counters;
}

/* May neither take long nor go elsewhere, and nobody else looks at what it does. */
bool is_quiet(gimple *statement)
{
	if (is_gimple_debug(statement))
		return true;
	if (is_gimple_call(statement))
		return gimple_call_flags(statement) & (ECF_CONST | ECF_PURE) &&
		       !stmt_could_throw_p(cfun, statement) && gimple_call_builtin_p(statement);
	return gimple_code(statement) != GIMPLE_ASM && !gimple_has_volatile_ops(statement) &&
	       !stmt_could_throw_p(cfun, statement);
}

bool is_quiet(class loop *loop)
{
	basic_block *body = get_loop_body(loop);
	bool quiet = true;

	for (unsigned index = 0; quiet && index < loop->num_nodes; index++)
		for (gimple_stmt_iterator gsi = gsi_start_bb(body[index]); quiet && !gsi_end_p(gsi);
		     gsi_next(&gsi))
			quiet = is_quiet(gsi_stmt(gsi));
	free(body);
	return quiet;
}

std::vector<edge> entries_of(class loop *loop)
{
	std::vector<edge> found;

	for (edge way : all_of(loop->header->preds))
		if (!flow_bb_inside_loop_p(loop, way->src))
			found.push_back(way);
	return found;
}

std::vector<edge> exits_of(class loop *loop)
{
	std::vector<edge> found;

	for (edge way : get_loop_exit_edges(loop))
		if (!(way->flags & EDGE_FAKE))
			found.push_back(way);
	return found;
}

bool all_normal(const std::vector<edge> &ways)
{
	for (edge way : ways)
		if (way->flags & EDGE_COMPLEX)
			return false;
	return !ways.empty();
}

void make_plain(tree reference)
{
	TREE_THIS_VOLATILE(reference) = 0;
	TREE_SIDE_EFFECTS(reference) = 0;
}

} // namespace

loop_counters::loop_counters(function *fn, bool registers)
{
	if (!registers || !loops_for_fn(fn))
		return;
	for (class loop *loop : loops_list(fn, LI_ONLY_INNERMOST)) {
		const std::vector<edge> exits = exits_of(loop);
		if (all_normal(exits) && all_normal(entries_of(loop)) && is_quiet(loop))
			quiet[loop] = exits;
	}
}

class loop *loop_counters::quiet_loop_of(basic_block block) const
{
	return quiet.count(block->loop_father) ? block->loop_father : NULL;
}

uint64_t loop_counters::weight(basic_block block, uint64_t weight) const
{
	return quiet_loop_of(block) ? weight / register_share + 3 : weight;
}

gimple_seq loop_counters::increment(class loop *around, unsigned counter)
{
	return around ? increment_in_register(around, counter)
		      : add_to_memory(counter, build_int_cst(uint64_type_node, 1));
}

gimple_seq loop_counters::increment_in_register(class loop *around, unsigned counter)
{
	tree increase = create_tmp_reg(uint64_type_node, "kadence");
	tree one = build_int_cst(uint64_type_node, 1);
	gimple_seq code = NULL;

	for (edge way : entries_of(around))
		gimple_seq_add_stmt(
		    &pending[way], gimple_build_assign(increase, build_zero_cst(uint64_type_node)));
	for (edge way : quiet[around])
		gimple_seq_add_seq(&pending[way], add_to_memory(counter, increase));
	gimple_seq_add_stmt(&code, gimple_build_assign(increase, PLUS_EXPR, increase, one));
	return code;
}

void loop_counters::count_block(basic_block block, unsigned counter)
{
	gimple_stmt_iterator gsi = gsi_after_labels(block);

	gsi_insert_seq_before(&gsi, increment(quiet_loop_of(block), counter), GSI_SAME_STMT);
}

/* An edge that leaves a loop is no part of it. */
void loop_counters::count_edge(edge way, unsigned counter)
{
	class loop *around = quiet_loop_of(way->src);

	if (around && !flow_bb_inside_loop_p(around, way->dest))
		around = NULL;
	if (around && way->dest == around->header && !flow_bb_inside_loop_p(around, way->src))
		around = NULL;
	gimple_seq_add_seq(&pending[way], increment(around, counter));
}

void loop_counters::finish()
{
	for (auto &item : pending)
		gsi_insert_seq_on_edge(item.first, item.second);
	gsi_commit_edge_inserts();
}

void make_counter_plain(gimple *statement)
{
	if (!counters || !gimple_assign_single_p(statement))
		return;
	tree target = gimple_assign_lhs(statement), source = gimple_assign_rhs1(statement);

	if (is_counter(target))
		make_plain(target);
	else if (is_counter(source))
		make_plain(source);
	else
		return;
	gimple_set_has_volatile_ops(statement, false);
}

void register_counter_roots(const char *plugin_name)
{
	static const ggc_root_tab roots[] = {
	    {&counters, 1, sizeof(counters), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
	    LAST_GGC_ROOT_TAB,
	};

	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));
}

} // namespace kadence
