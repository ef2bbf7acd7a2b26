/* SPDX-License-Identifier: MIT */
/*
 * Where no device answers, the program is on a kernel that nobody made for it, and
 * its memory must cost no more than the plain program's:
 *
 * - Blocks that are not kept are malloc's. It maps blocks of a size until one of them
 *   is freed, and has such blocks in its heap from then on; where an arena takes
 *   and gives back each of them, all their pages are faults again. Nor does the heap
 *   stay what it was where some of the blocks are elsewhere that held its end up.
 * - Blocks that are kept are made present in bulk, or put into huge pages, only if
 *   that was measured to pay on this machine (costs.h).
 * - They are malloc's as soon as more of them had to be taken afresh
 *   than a twentieth of the most that was in use at a time, and KADAPT_BUDGET_SLACK:
 *   sizes that don't fit what is kept, or more than may be kept.
 *
 * What has become malloc's stays malloc's. The caller holds the arena's lock, except where
 * it is said.
 */
#ifndef LIBKADAPT_MEMORY_HOME_H
#define LIBKADAPT_MEMORY_HOME_H

#include <stddef.h>

#include "base/device_file.h"

KADAPT_HIDDEN int kadapt_home_is(void);

/*
 * Those of the treatments that are done here (with a device, all); 0 if none is, so
 * that the block is malloc's.
 */
KADAPT_HIDDEN int kadapt_home_serves(unsigned int treatments, unsigned int *done);

/* Whether a block that nothing kept fits is malloc's; with a device, never. */
KADAPT_HIDDEN int kadapt_home_is_mallocs(size_t bytes, unsigned int treatments);

/* The program freed a block. */
KADAPT_HIDDEN void kadapt_home_freed(size_t bytes);

/* Tells malloc what it would have learned from these. Without the lock. */
KADAPT_HIDDEN void kadapt_home_teach(void);

#endif
