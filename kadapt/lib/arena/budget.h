/* SPDX-License-Identifier: MIT */
/*
 * How many freed pages the program may keep. Two rules hold its resident memory near
 * the plain program's:
 *
 * - Blocks in use and kept blocks together never exceed the most that was ever in use
 *   at one time by more than a twentieth and KADAPT_BUDGET_SLACK.
 * - When the process's peak grows by KADAPT_BUDGET_SLACK more than the arena's peak,
 *   something else needs memory. Then all kept pages go back to the kernel.
 *
 * The library checks the second rule when blocks come and go and when a phase begins.
 * If the rest of the program allocates much at once between two checks, the kept pages
 * go back too late.
 *
 * The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_BUDGET_H
#define LIBKADAPT_BUDGET_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_BUDGET_SLACK ((size_t)8 << 20)

struct kadapt_budget {
	size_t in_use; /* bytes of the program's blocks */
	size_t peak;   /* the most that in_use ever was */
	size_t ahead;  /* bytes of these blocks that were made present before they were touched */
	size_t fresh;  /* bytes of all blocks so far that were not taken from kept pages */
};
extern struct kadapt_budget kadapt_budget KADAPT_HIDDEN;

/* Bytes that are kept. To learn only whether there are any, read it without the lock. */
extern _Atomic size_t kadapt_kept KADAPT_HIDDEN;

/* From here on at most `keep_bytes` may be kept. */
KADAPT_HIDDEN void kadapt_budget_begin(size_t keep_bytes);

/* Count `bytes` more or fewer in the program's blocks. */
KADAPT_HIDDEN void kadapt_budget_use(size_t bytes);
KADAPT_HIDDEN void kadapt_budget_unuse(size_t bytes);

/* Returns how many of the kept bytes must be given back now. */
KADAPT_HIDDEN size_t kadapt_budget_excess(void);

/* Returns whether `bytes` more may be kept. */
KADAPT_HIDDEN int kadapt_budget_allows(size_t bytes);

/* Returns whether `bytes` could be kept if nothing else were. */
KADAPT_HIDDEN int kadapt_budget_could_keep(size_t bytes);

/*
 * Returns whether a block of `bytes` may be taken from fresh pages, although freed
 * blocks are kept. The block already counts as in use.
 */
KADAPT_HIDDEN int kadapt_budget_allows_fresh(size_t bytes);

/* Returns whether `bytes` more may be made present before they are touched. */
KADAPT_HIDDEN int kadapt_budget_allows_ahead(size_t bytes);

#endif
