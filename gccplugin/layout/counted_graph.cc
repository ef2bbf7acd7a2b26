// SPDX-License-Identifier: GPL-3.0-or-later
#include "layout/counted_graph.h"
#include "base/function_shape.h"

#include <algorithm>

namespace kadence
{

counted_graph::counted_graph(function *fn, const counted_function &counted, uint64_t times)
    : subject(fn), runs(times)
{
	basic_block block;

	blocks.resize(last_basic_block_for_fn(fn), 0);
	blocks[ENTRY_BLOCK] = blocks[EXIT_BLOCK] = unknown_count;
	for (const block_count &item : counted.blocks)
		if (item.block < blocks.size() && item.block >= NUM_FIXED_BLOCKS)
			blocks[item.block] = std::min(item.count, largest_count);
	FOR_BB_BETWEEN(block, ENTRY_BLOCK_PTR_FOR_FN(fn), EXIT_BLOCK_PTR_FOR_FN(fn), next_bb)
	for (edge way : all_of(block->succs)) {
		ways.push_back(way);
		edges.push_back({(size_t)way->src->index, (size_t)way->dest->index});
	}
	derived = derive_edge_counts(blocks, edges);
}

/* The edge into the function is the first one. */
uint64_t counted_graph::calls() const
{
	return derived.counts.front();
}

void counted_graph::give_to_compiler() const
{
	basic_block block;

	FOR_EACH_BB_FN(block, subject)
	block->count = in_compiler(blocks[block->index]);
	for (size_t first = 0; first < ways.size();)
		first = give_probabilities(first);
	ENTRY_BLOCK_PTR_FOR_FN(subject)->count = in_compiler(calls());
	EXIT_BLOCK_PTR_FOR_FN(subject)->count = in_compiler(calls());
	cgraph_node::get(subject->decl)->count = in_compiler(calls());
	update_max_bb_count();
	profile_status_for_fn(subject) = PROFILE_READ;
}

std::string counted_graph::described() const
{
	return std::to_string(ways.size()) + " edges, " +
	       std::to_string(ways.size() - derived.exact) + " of them estimated";
}

profile_count counted_graph::in_compiler(uint64_t count) const
{
	return profile_count::from_gcov_type((gcov_type)(count * runs));
}

/* Of the edges out of one block, which are neighbours. Returns the next block's first. */
size_t counted_graph::give_probabilities(size_t first) const
{
	basic_block block = ways[first]->src;
	uint64_t total = 0;
	size_t end = first;

	for (; end < ways.size() && ways[end]->src == block; end++)
		total += derived.counts[end];
	if (!total && block->index != ENTRY_BLOCK)
		tree_guess_outgoing_edge_probabilities(block);
	for (size_t each = first; total && each < end; each++)
		ways[each]->probability = profile_probability::probability_in_gcov_type(
		    (gcov_type)derived.counts[each], (gcov_type)total);
	return end;
}

} // namespace kadence
