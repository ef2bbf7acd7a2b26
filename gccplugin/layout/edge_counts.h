/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Derives how often edges ran from how often blocks ran: Tamches and Miller, Dynamic Kernel I-Cache
 * Optimization (2001), section 5. A block is entered as often as it is left. So if all edges into a
 * block, or out of it, are known but one, the last one follows. Where this ends, an edge is taken
 * to have run as often as both of its blocks allow.
 */
#ifndef KADENCE_EDGE_COUNTS_H
#define KADENCE_EDGE_COUNTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kadence
{

/* Of blocks whose count is not known, as those before the first block and behind the last one. */
const uint64_t unknown_count = UINT64_MAX;

struct block_edge {
	size_t source, target; /* positions in the blocks */
};

struct edge_counts {
	std::vector<uint64_t> counts; /* of each edge */
	size_t exact;		      /* so many follow from the blocks */
};

edge_counts derive_edge_counts(const std::vector<uint64_t> &blocks,
			       const std::vector<block_edge> &edges);

} // namespace kadence

#endif
