// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/function_shape.h"
#include "base/warning.h"
#include "count/block_marks.h"
#include "count/count_tables.h"
#include "count/function_counter.h"
#include "count/loop_counters.h"

#include <map>

namespace kadence
{
namespace
{

/* Without an estimate, as at -O0, all edges weigh the same. */
uint64_t weight_of(const profile_count &count, function *fn)
{
	return count.initialized_p() ? 4 * (uint64_t)count.to_frequency(fn) + 4 : 4;
}

bool is_dispatcher(basic_block block)
{
	gimple_stmt_iterator gsi = gsi_start_nondebug_after_labels_bb(block);

	return !gsi_end_p(gsi) && gimple_call_internal_p(gsi_stmt(gsi), IFN_ABNORMAL_DISPATCHER);
}

bool is_abnormal(edge way)
{
	return way->flags & (EDGE_ABNORMAL | EDGE_ABNORMAL_CALL);
}

bool has_abnormal(vec<edge, va_gc> *ways)
{
	for (edge way : all_of(ways))
		if (is_abnormal(way))
			return true;
	return false;
}

/* Counts the blocks of one function. */
class function_counter
{
      public:
	function_counter(function *compiled, bool in_loops_apart)
	    : fn(compiled), graph(2 * last_basic_block_for_fn(compiled)),
	      loop_counters(compiled, in_loops_apart)
	{
	}

	void count()
	{
		marks = take_marks(fn);
		if (dump_file)
			tell();
		add_edges();
		if (graph.choose(beginning(EXIT_BLOCK_PTR_FOR_FN(fn)))) {
			insert_counters();
			remember();
		} else {
			warn_skipped(DECL_SOURCE_LOCATION(fn->decl),
				     "function '" + assembler_name(fn->decl) +
					 "' is not counted: control comes and goes there in ways "
					 "that can't be (setjmp, computed or non-local jumps); "
					 "the profile will have nothing of it");
		}
	}

      private:
	function *const fn;
	flow_graph graph;
	class loop_counters loop_counters;
	std::map<int, std::vector<unsigned>> marks; /* by a block's index */
	std::map<int, size_t> inside;		    /* the edge that stands for a block itself */
	std::map<size_t, basic_block> block_of;	    /* the reverse */
	std::map<size_t, edge> edge_of;

	void tell() const
	{
		for (const auto &item : marks)
			for (unsigned position : item.second) {
				const named_block &block = named_blocks()[position];
				const named_function &named = named_functions()[block.function];

				if (!named.for_layout)
					fprintf(dump_file, "%s: block %d has block %u of %s\n",
						assembler_name(fn->decl).c_str(), item.first,
						block.index, named.name.c_str());
			}
	}

	/* A block is an edge, too, from its beginning to its end, because it can be counted. */
	static size_t beginning(basic_block block)
	{
		return 2 * block->index;
	}

	static size_t end(basic_block block)
	{
		return 2 * block->index + 1;
	}

	void add_edges()
	{
		basic_block block, entry = ENTRY_BLOCK_PTR_FOR_FN(fn);

		graph.add_edge(end(EXIT_BLOCK_PTR_FOR_FN(fn)), beginning(entry), 0, false);
		graph.add_edge(beginning(EXIT_BLOCK_PTR_FOR_FN(fn)), end(EXIT_BLOCK_PTR_FOR_FN(fn)),
			       0, false);
		graph.add_edge(beginning(entry), end(entry), 0, false);
		FOR_EACH_BB_FN(block, fn)
		add_block(block);
		FOR_BB_BETWEEN(block, entry, EXIT_BLOCK_PTR_FOR_FN(fn), next_bb)
		for (edge way : all_of(block->succs))
			add_way(way);
	}

	/* Abnormal edges lead from and to the outside. */
	void add_block(basic_block block)
	{
		const bool special = is_dispatcher(block) || begins_by_returning_again(block);
		const uint64_t weight = loop_counters.weight(block, weight_of(block->count, fn));
		const size_t number =
		    graph.add_edge(beginning(block), end(block), weight - 2, !special);

		inside[block->index] = number;
		block_of[number] = block;
		if (is_dispatcher(block))
			return;
		if (has_abnormal(block->preds))
			graph.add_edge(end(ENTRY_BLOCK_PTR_FOR_FN(fn)), beginning(block), 0, false);
		if (has_abnormal(block->succs) && !special && !leaves(block))
			graph.add_edge(end(block), beginning(EXIT_BLOCK_PTR_FOR_FN(fn)), 0, false);
	}

	/* The block already has a way out that cannot be counted. */
	bool leaves(basic_block block) const
	{
		for (edge way : all_of(block->succs))
			if (way->dest == EXIT_BLOCK_PTR_FOR_FN(fn) && !is_countable(way))
				return true;
		return false;
	}

	static bool is_countable(edge way)
	{
		return !(way->flags & EDGE_FAKE) && !is_abnormal(way);
	}

	void add_way(edge way)
	{
		const bool critical = EDGE_CRITICAL_P(way) || way->dest->index == EXIT_BLOCK;
		/* Calls that have not returned, or never will, count as calls, too. */
		const bool entry = way->src->index == ENTRY_BLOCK;
		const uint64_t weight =
		    entry ? 0 : loop_counters.weight(way->src, weight_of(way->count(), fn));

		if (is_abnormal(way) && way->dest->index != EXIT_BLOCK)
			return;
		/* The call may return more than once. */
		if (way->flags & EDGE_FAKE && begins_by_returning_again(way->src))
			return;
		edge_of[graph.add_edge(end(way->src), beginning(way->dest),
				       weight * (critical ? 2 : 1), is_countable(way))] = way;
	}

	void insert_counters()
	{
		unsigned counter = first_free_counter();

		loop_counters.cut_loops();
		for (size_t number : graph.counted()) {
			if (block_of.count(number))
				loop_counters.count_block(block_of[number], counter++);
			else
				loop_counters.count_edge(edge_of[number], counter++);
		}
		loop_counters.finish();
	}

	void remember()
	{
		function_counts counts = {(unsigned)graph.counted().size(), graph.derived(), {}};
		std::map<unsigned, sum> found;

		for (const auto &item : marks)
			for (unsigned position : item.second)
				found[position].push_back(
				    {graph.value_of(inside[item.first]), false});
		for (auto &item : found)
			counts.contributions.push_back({item.first, std::move(item.second)});
		add_function_counts(std::move(counts));
	}
};

} // namespace

void count_blocks(function *fn, bool in_loops_apart)
{
	function_counter(fn, in_loops_apart).count();
}

bool is_left_alone(function *fn)
{
	const tree attributes = DECL_ATTRIBUTES(fn->decl);

	return DECL_EXTERNAL(fn->decl) || DECL_SOURCE_LOCATION(fn->decl) == BUILTINS_LOCATION ||
	       lookup_attribute("naked", attributes) ||
	       lookup_attribute("no_instrument_function", attributes) ||
	       lookup_attribute("no_profile_instrument_function", attributes) ||
	       resolves_indirect_function(fn);
}

void forget_purity(function *fn)
{
	cgraph_node *node = cgraph_node::get(fn->decl);

	node->set_const_flag(false, false);
	node->set_pure_flag(false, false);
}

void renew_calls(function *fn)
{
	basic_block block;

	FOR_EACH_BB_FN(block, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (is_gimple_call(gsi_stmt(gsi)))
			update_stmt(gsi_stmt(gsi));
}

} // namespace kadence
