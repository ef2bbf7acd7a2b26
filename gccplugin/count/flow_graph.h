/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses the edges of a flow graph that are counted. All other counts follow from theirs.
 *
 * A vertex is left as often as it is entered. So the counts of the edges outside of a spanning tree
 * determine those of its edges (Knuth and Stevenson, Optimal measurement points for program
 * frequency counts, 1973). With a tree of greatest weight, the counted edges are executed least
 * (Ball and Larus, Optimally profiling and tracing programs, 1994).
 */
#ifndef KADENCE_FLOW_GRAPH_H
#define KADENCE_FLOW_GRAPH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kadence
{

/* A value that is added or subtracted. Values are the counters, then the derived sums, in order. */
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

	/* Returns the edge's number. Edges that cannot be counted must not form a circle. */
	size_t add_edge(size_t source, size_t target, uint64_t weight, bool countable);

	/*
	 * Chooses the edges to count. Returns false if an edge must be counted and cannot be. While
	 * an entry of a vertex has not left it yet, the sums derived beyond the vertex, towards the
	 * root, are wrong by that entry.
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
