/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code that counts. Counters are in memory, one for each thread. In an innermost loop without
 * calls, a register holds the counter's increase, which is added when the loop is left. The loop
 * optimisers handle such registers: they replace them by a product if the number of rounds can be
 * computed, and by a vector if the loop is vectorised.
 */
#ifndef KADENCE_LOOP_COUNTERS_H
#define KADENCE_LOOP_COUNTERS_H

#include "count/strip_mining.h"

#include <map>
#include <vector>

namespace kadence
{

class loop_counters
{
      public:
	/* `fn` is the current function. Without `registers`, all counting is done in memory. */
	loop_counters(function *fn, bool registers);

	/* The cost of counting this block if it is executed `weight` times. */
	uint64_t weight(basic_block block, uint64_t weight) const;

	/* Cuts long loops into strips. Call it after choosing all counters and before the first
	 * count. */
	void cut_loops();

	/* Adds one to the counter whenever the block or the edge is executed. */
	void count_block(basic_block block, unsigned counter);
	void count_edge(edge way, unsigned counter);

	/* Call this once, after all counts. */
	void finish();

      private:
	using loops = std::map<class loop *, std::vector<edge>>;

	const bool inlined_later;
	loops quiet; /* with their exits */
	std::map<class loop *, strips> cut;
	std::map<edge, edge> moved; /* the edges behind exits */
	std::map<edge, gimple_seq> pending;

	class loop *quiet_loop_of(basic_block block) const;
	gimple_seq increment(class loop *around, unsigned counter);
	void count_between_strips(class loop *around, basic_block from, basic_block to,
				  unsigned counter);
	gimple_seq increment_in_register(class loop *around, unsigned counter);
};

} // namespace kadence

#endif
