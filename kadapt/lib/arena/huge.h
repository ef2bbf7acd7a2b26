/* SPDX-License-Identifier: MIT */
/*
 * Huge pages for kept blocks, as a level that trials may choose (KADAPT_LEVEL_HUGE).
 * Pages that are present anyway move into huge ones, so resident memory stays what it
 * is. Whether that pays is not foreseen: a virtual machine's host may have to find a huge
 * page first.
 *
 * A frame is 2 MiB at a multiple of 2 MiB; it may hold parts of several blocks. It is
 * moved when a block is taken from kept pages, if all its pages are present. At another
 * level its mapping is split again, so that a trial compares like with like. Splitting
 * moves nothing.
 *
 * The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_HUGE_H
#define LIBKADAPT_HUGE_H

#include <stddef.h>

#include "base/device_file.h"

/* A block was taken; its first `dirty` bytes were kept. Moves its frames if it is time. */
KADAPT_HIDDEN void kadapt_huge_take(const char *start, size_t dirty);

/* Splits all frames. */
KADAPT_HIDDEN void kadapt_huge_split(void);

/* The pages have lost their contents, or are about to. */
KADAPT_HIDDEN void kadapt_huge_forget(const char *start, size_t bytes);

#endif
