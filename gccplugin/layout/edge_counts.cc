// SPDX-License-Identifier: GPL-3.0-or-later
#include "layout/edge_counts.h"

#include <algorithm>

namespace kadence
{
namespace
{

/* The edges on one side of a block. */
struct side {
	uint64_t rest; /* the block's count less the known edges; or unknown_count */
	std::vector<size_t> open;
};

class derivation
{
      public:
	derivation(const std::vector<uint64_t> &blocks, const std::vector<block_edge> &given)
	    : edges(given), result{std::vector<uint64_t>(given.size(), unknown_count), 0}
	{
		for (uint64_t count : blocks) {
			in.push_back({count, {}});
			out.push_back({count, {}});
		}
		for (size_t edge = 0; edge < edges.size(); edge++) {
			out[edges[edge].source].open.push_back(edge);
			in[edges[edge].target].open.push_back(edge);
		}
	}

	edge_counts run()
	{
		for (size_t block = 0; block < in.size(); block++)
			look_at(block);
		while (!changed.empty()) {
			const size_t block = changed.back();
			changed.pop_back();
			look_at(block);
		}
		for (size_t edge = 0; edge < edges.size(); edge++)
			if (result.counts[edge] == unknown_count)
				result.counts[edge] = most(edge);
		return result;
	}

      private:
	const std::vector<block_edge> &edges;
	edge_counts result;
	std::vector<side> in, out;
	std::vector<size_t> changed;

	void look_at(size_t block)
	{
		for (const side *which : {&in[block], &out[block]})
			if (which->rest != unknown_count && which->open.size() == 1)
				settle(which->open.front(), which->rest);
	}

	void settle(size_t edge, uint64_t count)
	{
		result.counts[edge] = count;
		result.exact++;
		close(out[edges[edge].source], edge, count);
		close(in[edges[edge].target], edge, count);
		changed.push_back(edges[edge].source);
		changed.push_back(edges[edge].target);
	}

	/* A block that a signal or a jump left in its middle has run oftener than its edges. */
	static void close(side &which, size_t edge, uint64_t count)
	{
		which.open.erase(std::find(which.open.begin(), which.open.end(), edge));
		if (which.rest != unknown_count)
			which.rest -= std::min(which.rest, count);
	}

	uint64_t most(size_t edge) const
	{
		const uint64_t count =
		    std::min(out[edges[edge].source].rest, in[edges[edge].target].rest);

		return count == unknown_count ? 0 : count;
	}
};

} // namespace

edge_counts derive_edge_counts(const std::vector<uint64_t> &blocks,
			       const std::vector<block_edge> &edges)
{
	return derivation(blocks, edges).run();
}

} // namespace kadence
