/* SPDX-License-Identifier: MIT */
/*
 * The arena: addresses that the library reserves once, and from which it serves large
 * blocks. Taking a block makes whole pages accessible. When the program frees a block,
 * its pages are kept, accessible and present, for the next block (budget.h limits how
 * many), or they go back to the kernel at once. The arena has two zones: one whose page
 * faults the kernel was asked to serve in bulk, and one of ordinary memory.
 *
 * All functions may be called from any thread and preserve errno. If there is no arena,
 * or no room in it, their result says so, and the C library serves the call.
 */
#ifndef LIBKADAPT_ARENA_H
#define LIBKADAPT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "arena/addresses.h"
#include "base/device_file.h"

/* The least size of a block that the arena serves. SIZE_MAX if there is no arena. */
extern _Atomic size_t kadapt_memory_least KADAPT_HIDDEN;

/*
 * Returns a block, aligned to a page at least, or NULL. Its first *dirty bytes may hold
 * contents of an earlier block; the rest are zero.
 */
KADAPT_HIDDEN void *kadapt_arena_take(size_t size, size_t alignment, unsigned int treatments,
				      size_t *dirty);

/* Frees the block. Returns 0 if it is not the arena's. */
KADAPT_HIDDEN int kadapt_arena_give(void *block);

/* Returns the block's usable size in bytes, or 0 if it is not the arena's. */
KADAPT_HIDDEN size_t kadapt_arena_usable(const void *block);

/* Makes the block `size` bytes large in place. Returns 1, or 0 if that is not possible. */
KADAPT_HIDDEN int kadapt_arena_resize(void *block, size_t size);

/* Moves the contents to a larger block and frees this one. Returns NULL if this one stays. */
KADAPT_HIDDEN void *kadapt_arena_move(void *block, size_t size);

/* Notes that the program changed pages of the block around this address: it will not be kept. */
__attribute__((access(none, 1))) KADAPT_HIDDEN void kadapt_arena_mark_changed(const void *address);

/* Gives all kept pages back to the kernel. Returns 1 if there were any. */
KADAPT_HIDDEN int kadapt_arena_give_kept(void);

/* Ends the arena: it serves no more blocks and unmaps all addresses outside its blocks. */
KADAPT_HIDDEN void kadapt_arena_close(void);

#endif
