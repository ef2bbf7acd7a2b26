/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the blocks of one function, for both ways to count. */
#ifndef KADENCE_FUNCTION_COUNTER_H
#define KADENCE_FUNCTION_COUNTER_H

#include "base/gcc_compat.h"

namespace kadence
{

/*
 * Removes the marks of `fn`, the current function, inserts its counters, and adds the function to
 * the tables (count_tables.h). With `in_loops_apart`, loops without calls count in registers
 * (loop_counters.h). The caller adds and removes fake edges to the function's exit: they stand for
 * all ways out of the function except its end.
 */
void count_blocks(function *fn, bool in_loops_apart);

/* Whether `fn` is counted. Some functions cannot be, and others ask not to be. */
bool is_left_alone(function *fn);

/* The function writes memory now, whatever its declaration says. */
void forget_purity(function *fn);

/* Updates calls in `fn`, the current function, of functions that were pure. The caller then updates
 * the SSA form. */
void renew_calls(function *fn);

} // namespace kadence

#endif
