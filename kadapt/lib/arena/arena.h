/* SPDX-License-Identifier: MIT */
/*
 * Large blocks, in memory of this library's own: addresses that are reserved once,
 * of which whole pages are made accessible when a block is taken. What the program
 * frees is kept, accessible and present, for the next block (budget.h says how much
 * of it), or given back to the kernel at once. There are two zones: one whose page
 * faults the kernel was asked to serve in bulk, and one as any other memory.
 *
 * All functions may be called from any thread and leave errno alone. Where there is
 * no arena, or no room in it, they say so and the C library serves.
 */
#ifndef LIBKADAPT_ARENA_H
#define LIBKADAPT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "arena/addresses.h"
#include "base/device_file.h"

/* Blocks from this size on are the arena's; SIZE_MAX while there is none. */
extern _Atomic size_t kadapt_memory_least KADAPT_HIDDEN;

/*
 * A block, page-aligned at least, or NULL. The first *dirty bytes of it may hold
 * what an earlier block left; the rest are zero.
 */
KADAPT_HIDDEN void *kadapt_arena_take(size_t size, size_t alignment, unsigned int treatments,
				      size_t *dirty);

/* The program is done with the block; 0 if it is none of the arena's. */
KADAPT_HIDDEN int kadapt_arena_give(void *block);

/* Bytes that the program may use of the block; 0 if it is none of the arena's. */
KADAPT_HIDDEN size_t kadapt_arena_usable(const void *block);

/* Makes the block so large where it is; 1 or 0. */
KADAPT_HIDDEN int kadapt_arena_resize(void *block, size_t size);

/* A larger block with the same contents in the place of this one; NULL, and this one stays. */
KADAPT_HIDDEN void *kadapt_arena_move(void *block, size_t size);

/* The pages of the block that this address is in are no longer as a new block's: it is not kept. */
KADAPT_HIDDEN void kadapt_arena_mark_changed(const void *address);

/* Gives all that is kept back to the kernel; 1 if there was any. */
KADAPT_HIDDEN int kadapt_arena_give_kept(void);

/* No more blocks, and no more addresses than those that there are need. */
KADAPT_HIDDEN void kadapt_arena_close(void);

#endif
