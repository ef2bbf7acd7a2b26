// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Derives the counts of edges from those of blocks, for bench/layout/edges.py.
 *
 * Input: the numbers of blocks and edges; the count of each block, or "-"; source and target of
 * each edge. Output: the count of each edge, a line each.
 */
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "layout/edge_counts.h"

static uint64_t count_of(const std::string &word)
{
	return word == "-" ? kadence::unknown_count : strtoull(word.c_str(), nullptr, 10);
}

int main()
{
	size_t blocks = 0, edges = 0;
	std::string word;

	std::cin >> blocks >> edges;
	std::vector<uint64_t> counts(blocks);
	for (uint64_t &count : counts) {
		std::cin >> word;
		count = count_of(word);
	}
	std::vector<kadence::block_edge> graph(edges);
	for (kadence::block_edge &edge : graph)
		std::cin >> edge.source >> edge.target;
	if (!std::cin)
		return EXIT_FAILURE;
	for (uint64_t count : kadence::derive_edge_counts(counts, graph).counts)
		std::cout << count << '\n';
	return EXIT_SUCCESS;
}
