/* SPDX-License-Identifier: MIT */
/*
 * Kept pages that were not used for a while are idle: the kernel may take them if memory
 * is short. A span that the program takes again at once is not marked. For each page,
 * the mark costs 40 ns. The first write after the mark costs as much, because the
 * processor must set the page's dirty bit again. Both took 0.7 of 3.3 s of a program
 * that freed 24 MB in each of 400 steps.
 *
 * Every LOOK_NS, spans that were kept since before the last look are marked. Somebody
 * must look: the library does when a block is freed and when a phase begins.
 *
 * Where the kernel serves ranges, the arena itself watches memory (budget.c), and
 * nothing is marked. The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_IDLE_H
#define LIBKADAPT_IDLE_H

#include <stddef.h>

#include "base/device_file.h"

/*
 * Returns whether this block could be marked once it is kept. Only the first block is
 * asked for: it is marked.
 */
KADAPT_HIDDEN int kadapt_idle_is_possible(char *start, size_t bytes);

/*
 * Marks what has been kept for long. Returns 0 if the kernel refused, as it does for
 * locked memory. Then no block is to be kept.
 */
KADAPT_HIDDEN int kadapt_idle_look(void);

#endif
