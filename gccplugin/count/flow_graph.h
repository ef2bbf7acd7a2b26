/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which edges of a flow graph are counted, and how all other counts follow from theirs.
 *
 * What enters a vertex leaves it. So the edges outside of a spanning tree determine those on it
 * (Knuth and Stevenson, Optimal measurement points for program frequency counts, 1973); where the
 * tree is one of greatest weight, what is counted is executed least (Ball and Larus, Optimally
 * profiling and tracing programs, 1994).
 */
#ifndef KADENCE_FLOW_GRAPH_H
#define KADENCE_FLOW_GRAPH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kadence
{

/* A value, taken or taken away. Values are the counters, then what is derived, in order. */
struct term {
	unsigned value;
	bool negative;
};
using sum = std::vector<term>;

class flow_graph
{
      public:
	explicit flow_graph(size_t vertices) : incident(vertices)
	{
	}

	/* Returns the edge's number. One that can't be counted must not close a circle of such. */
	size_t add_edge(size_t source, size_t target, uint64_t weight, bool countable);

	/*
	 * Choose what is counted; returns false where something can't be counted that must be.
	 * Where what enters a vertex has not left it yet, what is derived beyond it, towards the
	 * root, is wrong by it.
	 */
	bool choose(size_t root);

	/* After choose(): the edges that are counted; the n-th has value n. */
	const std::vector<size_t> &counted() const
	{
		return counted_edges;
	}

	/* After choose(): each sum is a value of its own and mentions only earlier ones. */
	const std::vector<sum> &derived() const
	{
		return derived_sums;
	}

	/* After choose(): the value of an edge. */
	unsigned value_of(size_t edge) const
	{
		return values[edge];
	}

      private:
	struct flow_edge {
		size_t source;
		size_t target;
		uint64_t weight;
		bool countable;
		bool on_tree;
	};

	std::vector<flow_edge> edges;
	std::vector<std::vector<size_t>> incident;
	std::vector<size_t> counted_edges;
	std::vector<sum> derived_sums;
	std::vector<unsigned> values;

	bool grow_tree();
	void derive(size_t root);
	sum balance(size_t vertex, size_t unknown) const;
};

} // namespace kadence

#endif
