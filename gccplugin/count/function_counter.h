/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both ways to count have in common: the counting of one function's blocks. */
#ifndef KADENCE_FUNCTION_COUNTER_H
#define KADENCE_FUNCTION_COUNTER_H

#include "base/gcc_compat.h"

namespace kadence
{

/*
 * Takes the marks of `fn`, the current function, inserts its counters and tells count_tables.h.
 * With `in_loops_apart`, loops that call nothing count in registers (loop_counters.h). Ways out of
 * the function other than its end are fake edges to its exit, which the caller adds and removes.
 */
void count_blocks(function *fn, bool in_loops_apart);

/* What can't be counted, or must not be by its own wish, is left as it is. */
bool is_left_alone(function *fn);

/* It writes memory now, whatever was declared or found out before. */
void forget_purity(function *fn);

/* Calls in `fn`, the current function, of what was pure; SSA form must be updated after it. */
void renew_calls(function *fn);

} // namespace kadence

#endif
