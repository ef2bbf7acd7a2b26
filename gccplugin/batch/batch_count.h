/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The number of rounds of a loop, also for steps that are not constant. */
#ifndef KADENCE_BATCH_COUNT_H
#define KADENCE_BATCH_COUNT_H

#include "base/gcc_compat.h"

namespace kadence
{

/*
 * Sets `further` to the number of times that the test of `exit` stays in the loop: an expression of
 * values before the loop, of an unsigned type. Returns the boolean expression under which the
 * number is right, or null if the number is unknown.
 */
tree rounds_until(class loop *loop, edge exit, const gcond *condition, tree &further);

} // namespace kadence

#endif
