/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code that counts. A counter is in memory, one for each thread. In an innermost loop that
 * calls nothing, its increase is kept in a register and added where the loop is left: the loop
 * optimisers know what to do with it (where the number of rounds can be computed they make a
 * product of it, and a vector where the loop becomes one).
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

	/* What a count in this block costs that is executed `weight` times. */
	uint64_t weight(basic_block block, uint64_t weight) const;

	/* Cut long loops into strips; call when all counters are chosen, and before the first. */
	void cut_loops();

	/* Add one to the counter whenever the block or the edge is executed. */
	void count_block(basic_block block, unsigned counter);
	void count_edge(edge way, unsigned counter);

	/* Call once, when all is counted that is to be. */
	void finish();

      private:
	using loops = std::map<class loop *, std::vector<edge>>;

	const bool inlined_later;
	loops quiet; /* with their exits */
	std::map<class loop *, strips> cut;
	std::map<edge, edge> moved; /* what was behind an exit */
	std::map<edge, gimple_seq> pending;

	class loop *quiet_loop_of(basic_block block) const;
	gimple_seq increment(class loop *around, unsigned counter);
	void count_between_strips(class loop *around, basic_block from, basic_block to,
				  unsigned counter);
	gimple_seq increment_in_register(class loop *around, unsigned counter);
};

} // namespace kadence

#endif
