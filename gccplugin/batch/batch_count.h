/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often a loop is gone through, also where the compiler's own analysis wants a constant step.
 */
#ifndef KADENCE_BATCH_COUNT_H
#define KADENCE_BATCH_COUNT_H

#include "base/gcc_compat.h"

namespace kadence
{

/*
 * Puts into `further` an expression of what is known before the loop: how often the test of `exit`
 * says to stay, of an unsigned type. Returns the boolean expression under which that holds, or null
 * where nothing can be said.
 */
tree rounds_until(class loop *loop, edge exit, const gcond *condition, tree &further);

} // namespace kadence

#endif
