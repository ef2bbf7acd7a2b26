/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that have the same result in every round of a loop of calls. */
#ifndef KADENCE_BATCH_LOADS_H
#define KADENCE_BATCH_LOADS_H

#include "base/gcc_compat.h"

namespace kadence
{

/*
 * Moves loads before the loop if `call`, the loop's only effect, does not change their memory. The
 * compiler assumes that a call changes all reachable memory. But write and send change only errno,
 * which is no named variable and no member of a structure. Returns whether a load was moved.
 */
bool hoist_loads(class loop *loop, gcall *call);

} // namespace kadence

#endif
