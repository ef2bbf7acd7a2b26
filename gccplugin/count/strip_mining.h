/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop that counts in registers shows its counts when it adds them to memory. To show the counts
 * of a long loop while it runs, its rounds are cut into strips (Loveman, Program improvement by
 * source-to-source transformation, 1977).
 *
 * Some loops have one exit, which compares a variable that increases by a constant with a bound
 * that does not change. Such a loop gets an outer loop whose rounds are the strips, and the inner
 * loop compares with the strip's end. So the compiler can still transform the inner loop. Other
 * loops are never vectorised: they count down in one more register.
 */
#ifndef KADENCE_STRIP_MINING_H
#define KADENCE_STRIP_MINING_H

#include "base/gcc_compat.h"

#include <vector>

namespace kadence
{

/* The edges of a loop that was cut into strips. */
struct strips {
	edge beyond; /* behind its exit, when it ends; null: as before */
	edge again;  /* from its exit to the next strip; null: there is no outer loop */
	edge refill; /* from strip to strip within the loop; null: there is an outer loop */
	bool at_end; /* `again` replaces the latch; else the header runs once more */
};

/* There is another round if `variable` compares with `bound` as `code` says. */
struct loop_test {
	gcond *statement;
	tree_code code;
	tree variable, bound;
	affine_iv evolution;
	bool at_end; /* the test is at the end of a round; else in the header, which has nothing
			else */
};

class strip_plan
{
      public:
	/*
	 * Reads a quiet loop (loop_counters.h) with these exits, a preheader and a simple latch,
	 * before any loop is cut. Returns false if the loop cannot be cut, or never has as many
	 * rounds as a strip.
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
