/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a loop counts in registers is seen when it adds that to memory. So that a long loop is seen
 * while it runs, its rounds are cut into strips (Loveman, Program improvement by source-to-source
 * transformation, 1977).
 *
 * A loop with one exit, which compares what increases by a constant with what does not change,
 * gets a loop around it, whose rounds are the strips: the inner loop compares with the strip's end
 * instead, so that all that the compiler makes of such loops it still can. Others are not made
 * vectors of anyway: they count down in one more register.
 */
#ifndef KADENCE_STRIP_MINING_H
#define KADENCE_STRIP_MINING_H

#include "base/gcc_compat.h"

#include <vector>

namespace kadence
{

/* Where a loop that was cut into strips passes. */
struct strips {
	edge beyond; /* behind its exit, where it is left for good; null: as before */
	edge again;  /* from its exit to the next strip; null: there is no outer loop */
	edge refill; /* from strip to strip within the loop; null: there is an outer loop */
	bool at_end; /* `again` stands for going through the latch; else the header comes once more
		      */
};

/* `variable` compares with `bound` as `code` says: then there is another round. */
struct loop_test {
	gcond *statement;
	tree_code code;
	tree variable, bound;
	affine_iv evolution;
	bool at_end; /* of each round; else in the header, which does nothing else */
};

class strip_plan
{
      public:
	/*
	 * Look at a quiet loop (loop_counters.h) with these exits, which has a preheader and a
	 * simple latch, before any is cut. False: leave it; it never has as many rounds as a strip,
	 * or can't be cut.
	 */
	bool read(class loop *loop, const std::vector<edge> &exits);

	/* After read(). Loops and dominators are out of date afterwards. */
	strips cut();

      private:
	class loop *loop;
	unsigned rounds;
	edge exit; /* null: the loop counts down */
	loop_test test;
};

} // namespace kadence

#endif
