/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts one call before a loop that does what the loop's calls do, and lets the loop look up what
 * they came to:
 *
 *	done = guard ? kadapt_batch_write(fd, base, size, stride, count, &last) : -1;
 *	for (index = 0; ...; index++)
 *		result = index < done ? size : index == done ? last : kadapt_write(fd, ...);
 *
 * The loop keeps its exits and all values that are used after it, so a piece that fails leads
 * wherever it led before: to an abort, a message, or on to the next piece, by the loop's own call.
 * If the guard says no, index is never less than or equal to done, and the loop is what it was.
 */
#ifndef KADENCE_BATCH_BUILD_H
#define KADENCE_BATCH_BUILD_H

#include "batch/batch_loop.h"

namespace kadence
{

/* Dominators and scalar evolutions must be computed anew afterwards. */
void build_batch(const batch_loop &what);

} // namespace kadence

#endif
