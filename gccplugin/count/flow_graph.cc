// SPDX-License-Identifier: GPL-3.0-or-later
#include "count/flow_graph.h"

#include <algorithm>
#include <numeric>

namespace kadence
{
namespace
{

/* Disjoint sets, with path halving. */
class groups
{
      public:
	explicit groups(size_t count) : parents(count)
	{
		std::iota(parents.begin(), parents.end(), 0);
	}

	bool unite(size_t one, size_t other)
	{
		const size_t first = find(one), second = find(other);

		parents[first] = second;
		return first != second;
	}

      private:
	std::vector<size_t> parents;

	size_t find(size_t member)
	{
		while (parents[member] != member)
			member = parents[member] = parents[parents[member]];
		return member;
	}
};

} // namespace

size_t flow_graph::add_edge(size_t source, size_t target, uint64_t weight, bool countable)
{
	const size_t number = edges.size();

	edges.push_back({source, target, weight, countable, false});
	incident[source].push_back(number);
	if (target != source)
		incident[target].push_back(number);
	return number;
}

bool flow_graph::choose(size_t root)
{
	if (!grow_tree())
		return false;
	values.resize(edges.size());
	for (size_t number = 0; number < edges.size(); number++)
		if (!edges[number].on_tree) {
			values[number] = counted_edges.size();
			counted_edges.push_back(number);
		}
	derive(root);
	return true;
}

/* Kruskal's algorithm; edges that cannot be counted come first. */
bool flow_graph::grow_tree()
{
	std::vector<size_t> order(edges.size());
	groups connected(incident.size());

	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [this](size_t one, size_t other) {
		if (edges[one].countable != edges[other].countable)
			return !edges[one].countable;
		return edges[one].weight > edges[other].weight;
	});
	for (size_t number : order) {
		flow_edge &candidate = edges[number];
		candidate.on_tree = connected.unite(candidate.source, candidate.target);
		if (!candidate.on_tree && !candidate.countable)
			return false;
	}
	return true;
}

/* The balance of a vertex, without one of its edges. */
sum flow_graph::balance(size_t vertex, size_t unknown) const
{
	const bool leaves = edges[unknown].source == vertex;
	sum terms;

	for (size_t number : incident[vertex]) {
		const flow_edge &other = edges[number];
		if (number != unknown && other.source != other.target)
			terms.push_back({values[number], (other.source == vertex) == leaves});
	}
	return terms;
}

/* From the leaves of the tree inwards: each step takes a vertex with one unknown edge. */
void flow_graph::derive(size_t root)
{
	std::vector<size_t> unknown(incident.size()), ready;
	std::vector<bool> known(edges.size());

	for (size_t number = 0; number < edges.size(); number++)
		known[number] = !edges[number].on_tree;
	for (size_t vertex = 0; vertex < incident.size(); vertex++) {
		for (size_t number : incident[vertex])
			unknown[vertex] += !known[number];
		if (unknown[vertex] == 1)
			ready.push_back(vertex);
	}
	while (!ready.empty()) {
		const size_t vertex = ready.back();
		ready.pop_back();
		if (unknown[vertex] != 1 || vertex == root)
			continue;
		const size_t number =
		    *std::find_if(incident[vertex].begin(), incident[vertex].end(),
				  [&known](size_t edge) { return !known[edge]; });
		derived_sums.push_back(balance(vertex, number));
		values[number] = counted_edges.size() + derived_sums.size() - 1;
		known[number] = true;
		for (size_t end : {edges[number].source, edges[number].target})
			if (--unknown[end] == 1)
				ready.push_back(end);
	}
}

} // namespace kadence
