/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that give the same in every round of a loop of calls. */
#ifndef KADENCE_BATCH_LOADS_H
#define KADENCE_BATCH_LOADS_H

#include "base/gcc_compat.h"

namespace kadence
{

/*
 * Moves before the loop what it reads and what `call`, its only effect, does not change. The
 * compiler itself believes that a call changes whatever can be reached; but write and send change
 * nothing of the program's but errno, which is no named variable and no member of a structure.
 * Returns whether anything was moved.
 */
bool hoist_loads(class loop *loop, gcall *call);

} // namespace kadence

#endif
