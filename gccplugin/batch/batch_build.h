/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inserts one call before a loop. The call makes all writes of the loop, and the loop looks up
 *their results:
 *
 *	done = guard ? kadapt_batch_write(fd, base, size, stride, count, &last) : -1;
 *	for (index = 0; ...; index++)
 *		result = index < done ? size : index == done ? last : kadapt_write(fd, ...);
 *
 * The loop keeps its exits and all values that are used after it. So a failed piece has the same
 * effect as before: an abort, a message, or the next piece by the loop's own call. If the guard is
 * false, done is -1, and the loop makes all of its own calls.
 */
#ifndef KADENCE_BATCH_BUILD_H
#define KADENCE_BATCH_BUILD_H

#include "batch/batch_loop.h"

namespace kadence
{

/* Afterwards, dominators and scalar evolutions must be computed again. */
void build_batch(const batch_loop &what);

} // namespace kadence

#endif
