/* SPDX-License-Identifier: MIT */
/*
 * The life of a block in its zone: its span (spans.h) and the system calls for its
 * pages (pages.h). The caller holds the arena's lock. The caller also counts the bytes
 * in use in the budget, except for kadapt_blocks_grow() and kadapt_blocks_shrink().
 */
#ifndef LIBKADAPT_BLOCKS_H
#define LIBKADAPT_BLOCKS_H

#include "arena/spans.h"

struct kadapt_wish {
	uint32_t pages;
	uint32_t room;	  /* pages behind them to grow into: addresses only */
	size_t alignment; /* of the first page's address: a power of two */
	unsigned int treatments;
};

/*
 * Takes a block from kept pages. Returns its first page, or 0 if none fits. Its first
 * *dirty bytes were kept.
 */
KADAPT_HIDDEN uint32_t kadapt_blocks_take_kept(struct kadapt_zone *zone,
					       const struct kadapt_wish *wish, size_t *dirty);

/* Takes a block from fresh pages. Returns 0 if addresses or memory have run out. */
KADAPT_HIDDEN uint32_t kadapt_blocks_take_fresh(struct kadapt_zone *zone,
						const struct kadapt_wish *wish);

/* Keeps a freed block if its treatments and the budget allow that. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_blocks_keep(struct kadapt_zone *zone, uint32_t first);

/* Gives a block's pages back to the kernel. */
KADAPT_HIDDEN void kadapt_blocks_free(struct kadapt_zone *zone, uint32_t first);

/*
 * Gives kept pages back: `bytes` or more, or all if there are fewer. Returns the number of
 * bytes given back, at most `bytes`.
 */
KADAPT_HIDDEN size_t kadapt_blocks_give_kept(struct kadapt_zone *zone, size_t bytes);

/* Resizes the block in place and counts the change in the budget. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_blocks_grow(struct kadapt_zone *zone, uint32_t first, uint32_t pages);
KADAPT_HIDDEN int kadapt_blocks_shrink(struct kadapt_zone *zone, uint32_t first, uint32_t pages);

/* For a zone that will serve no more blocks: unmaps everything except the present blocks. */
KADAPT_HIDDEN void kadapt_blocks_unmap_free(struct kadapt_zone *zone);

#endif
