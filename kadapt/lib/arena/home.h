/* SPDX-License-Identifier: MIT */
/*
 * Where no device answers, the program runs on a kernel that was not made for it. There
 * its memory must cost no more than the plain program's:
 *
 * - malloc serves the blocks that are not kept. It maps blocks of a size until one of
 *   them is freed; from then on it serves such blocks from its heap, whose pages stay
 *   present. An arena that took and gave back each block would cause page faults for
 *   all their pages again. An arena that took only some of the blocks would change the
 *   heap: malloc trims the heap's end, and a block that held it up would be missing.
 * - Blocks that are kept are made present in bulk, or put into huge pages, only if
 *   that was measured to pay on this machine (costs.h).
 * - malloc serves kept blocks, too, once more bytes of them had to be taken fresh than
 *   the most that was in use at one time, a twentieth of that, and KADAPT_BUDGET_SLACK:
 *   their sizes do not fit the kept pages, or the budget is too small. That is final.
 *
 * The caller holds the arena's lock, unless a function's comment says otherwise.
 */
#ifndef LIBKADAPT_MEMORY_HOME_H
#define LIBKADAPT_MEMORY_HOME_H

#include <stddef.h>

#include "base/device_file.h"

/* Returns whether no device answers. Needs no lock. */
KADAPT_HIDDEN int kadapt_home_is(void);

/*
 * Sets *done to those of the treatments that are done here; with a device, all of them.
 * Returns 0 if malloc serves the block: without a device, when it is not to be kept.
 */
KADAPT_HIDDEN int kadapt_home_serves(unsigned int treatments, unsigned int *done);

/* Returns whether malloc serves a block that no kept pages fit. With a device, never. */
KADAPT_HIDDEN int kadapt_home_is_mallocs(size_t bytes, unsigned int treatments);

/* Notes that the program freed a block. */
KADAPT_HIDDEN void kadapt_home_freed(size_t bytes);

/* Teaches malloc what it would have learned from freed blocks. Called without the lock. */
KADAPT_HIDDEN void kadapt_home_teach(void);

#endif
