/* SPDX-License-Identifier: MIT */
/*
 * How much freed memory may stay with the program. Two rules hold the resident
 * size near the unadapted program's:
 *
 * - Blocks in use and kept ones together never exceed the most that was in use at
 *   a time by more than a twentieth and KADAPT_BUDGET_SLACK.
 * - When the process's peak rises by more than KADAPT_BUDGET_SLACK and the arena
 *   is not why, something else needs memory, and all that is kept is given back.
 *
 * The second is looked at when blocks come and go and when a phase begins: what
 * the rest of a program takes in one go between two of these is not seen in time.
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
	size_t peak;   /* the most of that */
	size_t ahead;  /* bytes of them that were made present before they were touched */
	size_t fresh;  /* bytes of all blocks so far that nothing kept was for */
};
extern struct kadapt_budget kadapt_budget KADAPT_HIDDEN;

/* Bytes that are kept; read without the lock by who wants to know if there are any. */
extern _Atomic size_t kadapt_kept KADAPT_HIDDEN;

/* At most so much may be kept. */
KADAPT_HIDDEN void kadapt_budget_begin(size_t keep_bytes);

/* The program's blocks grow or shrink. */
KADAPT_HIDDEN void kadapt_budget_use(size_t bytes);
KADAPT_HIDDEN void kadapt_budget_unuse(size_t bytes);

/* How much of what is kept has to be given back now. */
KADAPT_HIDDEN size_t kadapt_budget_excess(void);

/* Whether so much more may be kept. */
KADAPT_HIDDEN int kadapt_budget_allows(size_t bytes);

/* Whether so much could be kept, if nothing else were. */
KADAPT_HIDDEN int kadapt_budget_could_keep(size_t bytes);

/*
 * Whether so much more may be taken afresh, in a block that is in use already by
 * now, where what is freed is to be kept.
 */
KADAPT_HIDDEN int kadapt_budget_allows_fresh(size_t bytes);

/* Whether so much may be made present that nobody has touched yet. */
KADAPT_HIDDEN int kadapt_budget_allows_ahead(size_t bytes);

#endif
