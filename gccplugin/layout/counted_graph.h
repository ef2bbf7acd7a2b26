/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function's graph with the counts of a plan, which the compiler takes as if it had counted them
 * for -fprofile-use itself.
 */
#ifndef KADENCE_COUNTED_GRAPH_H
#define KADENCE_COUNTED_GRAPH_H

#include "base/gcc_compat.h"
#include "layout/edge_counts.h"
#include "plan/plan.h"

#include <string>
#include <vector>

namespace kadence
{

/* Larger counts are taken for this one: GCC keeps 61 bits, and multiplies by each other's scale. */
const uint64_t largest_count = UINT64_C(1) << 50;

class counted_graph
{
      public:
	/* Each count of the plan counts `runs` times. */
	counted_graph(function *fn, const counted_function &counted, uint64_t runs);

	/* How often the function was called. */
	uint64_t calls() const;

	/* Sets the counts of the function, its blocks and its edges. */
	void give_to_compiler() const;

	/* How many edges it has, and how many of them do not follow from the blocks. */
	std::string described() const;

      private:
	function *const subject;
	const uint64_t runs;
	std::vector<uint64_t> blocks;
	std::vector<block_edge> edges;
	std::vector<edge> ways;
	edge_counts derived;

	profile_count in_compiler(uint64_t count) const;
	size_t give_probabilities(size_t first) const;
};

} // namespace kadence

#endif
