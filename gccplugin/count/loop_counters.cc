// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/function_shape.h"
#include "count/count_tables.h"
#include "count/loop_counters.h"

namespace kadence
{
namespace
{

/* A register is rarely as costly as memory, but never free. */
const unsigned register_share = 4;

tree operand_of_text(const char *constraint, tree operand)
{
	return build_tree_list(
	    build_tree_list(NULL_TREE, build_string(strlen(constraint), constraint)), operand);
}

/*
 * The inliner takes each line of assembly for an instruction. If the text were one line, functions
 * that mostly count would be inlined more than plain ones. Above all, recursive functions would be
 * inlined into themselves, and would wait for the counter that they have just written.
 */
const char read_and_write[] = "\n\n";

/*
 * It is text, so that the compiler does not assume that the program's pointers may point to
 * counters, and spends no registers on their addresses. count_tables.cc defines the hidden symbol
 * at the end of the unit. In a program, the symbol's place in a thread's memory is a constant. In a
 * library, the place is known when the library is loaded.
 */
gimple_seq add_to_memory(unsigned counter, tree amount, const char *lines = "")
{
	const unsigned long offset = 8ul * counter;
	vec<tree, va_gc> *inputs = NULL, *outputs = NULL;
	tree address = flag_shlib ? make_temp_ssa_name(uint64_type_node, NULL, "kadence") : NULL;
	gimple_seq code = NULL;
	char *text;

	if (flag_shlib) {
		text = xasprintf("movq\t%s@gottpoff(%%%%rip), %%0\n\taddq\t%%1, %%%%fs:%lu(%%0)%s",
				 counters_name, offset, lines);
		vec_safe_push(outputs, operand_of_text("=&r", address));
	} else {
		text = xasprintf("addq\t%%0, %%%%fs:%s@tpoff+%lu%s", counters_name, offset, lines);
	}
	vec_safe_push(inputs, operand_of_text("re", amount));
	gasm *counting = gimple_build_asm_vec(text, inputs, outputs, NULL, NULL);
	gimple_asm_set_volatile(counting, true);
	if (address)
		SSA_NAME_DEF_STMT(address) = counting;
	gimple_seq_add_stmt(&code, counting);
	free(text);
	return code;
}

/* Whether a statement is quick, does not leave the loop, and has no effect that others see. */
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

} // namespace

loop_counters::loop_counters(function *fn, bool registers) : inlined_later(!registers)
{
	if (!registers || !loops_for_fn(fn))
		return;
	for (class loop *loop : loops_list(fn, LI_ONLY_INNERMOST)) {
		const std::vector<edge> exits = exits_of(loop);
		if (all_normal(exits) && all_normal(entries_of(loop)) && is_quiet(loop))
			quiet[loop] = exits;
	}
}

void loop_counters::cut_loops()
{
	std::map<class loop *, strip_plan> plans;

	for (const auto &item : quiet) {
		strip_plan plan;

		if (plan.read(item.first, item.second))
			plans[item.first] = plan;
	}
	for (auto &item : plans) {
		cut[item.first] = item.second.cut();
		if (cut[item.first].beyond)
			moved[quiet[item.first][0]] = cut[item.first].beyond;
	}
	if (cut.empty())
		return;
	loops_state_set(LOOPS_NEED_FIXUP);
	free_dominance_info(CDI_DOMINATORS);
	free_dominance_info(CDI_POST_DOMINATORS);
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
	if (around)
		return increment_in_register(around, counter);
	return add_to_memory(counter, build_one_cst(uint64_type_node),
			     inlined_later ? read_and_write : "");
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
	if (cut.count(around) && cut[around].refill) {
		gimple_seq &between = pending[cut[around].refill];
		gimple_seq_add_seq(&between, add_to_memory(counter, increase));
		gimple_seq_add_stmt(
		    &between, gimple_build_assign(increase, build_zero_cst(uint64_type_node)));
	}
	gimple_seq_add_stmt(&code, gimple_build_assign(increase, PLUS_EXPR, increase, one));
	return code;
}

/* Corrects the counts on the way from strip to strip. */
void loop_counters::count_between_strips(class loop *around, basic_block from, basic_block to,
					 unsigned counter)
{
	if (!around || !cut.count(around) || !cut[around].again)
		return;
	const strips &made = cut[around];
	tree amount = NULL_TREE;

	if (made.at_end && (from == around->latch || to == around->latch))
		amount = build_one_cst(uint64_type_node);
	else if (!made.at_end && from == around->header && to == around->header)
		amount = build_minus_one_cst(uint64_type_node);
	if (amount)
		gimple_seq_add_seq(&pending[made.again], add_to_memory(counter, amount));
}

void loop_counters::count_block(basic_block block, unsigned counter)
{
	gimple_stmt_iterator gsi = gsi_after_labels(block);
	class loop *around = quiet_loop_of(block);

	count_between_strips(around, block, block, counter);
	gsi_insert_seq_before(&gsi, increment(around, counter), GSI_SAME_STMT);
}

/* An edge that leaves a loop is not part of the loop. */
void loop_counters::count_edge(edge way, unsigned counter)
{
	if (moved.count(way))
		way = moved[way];
	class loop *around = quiet_loop_of(way->src);

	if (around && !flow_bb_inside_loop_p(around, way->dest))
		around = NULL;
	if (around && way->dest == around->header && !flow_bb_inside_loop_p(around, way->src))
		around = NULL;
	count_between_strips(around, way->src, way->dest, counter);
	gimple_seq_add_seq(&pending[way], increment(around, counter));
}

void loop_counters::finish()
{
	for (auto &item : pending)
		gsi_insert_seq_on_edge(item.first, item.second);
	gsi_commit_edge_inserts();
}

} // namespace kadence
