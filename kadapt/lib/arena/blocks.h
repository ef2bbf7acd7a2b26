/* SPDX-License-Identifier: MIT */
/*
 * The life of a block in its zone: spans (spans.h) and what the kernel is asked
 * for their pages (pages.h). The caller holds the arena's lock; only where it is
 * said does anything count against the budget here.
 */
#ifndef LIBKADAPT_BLOCKS_H
#define LIBKADAPT_BLOCKS_H

#include "arena/spans.h"

struct kadapt_wish {
	uint32_t pages;
	uint32_t room;	  /* pages more, of addresses only, to grow into */
	size_t alignment; /* of the first page's address: a power of two */
	unsigned int treatments;
};

/* From what is kept; 0 if nothing fits. *dirty is how much of it was present. */
KADAPT_HIDDEN uint32_t kadapt_blocks_take_kept(struct kadapt_zone *zone,
					       const struct kadapt_wish *wish, size_t *dirty);

/* From what is not; 0 where addresses or memory have run out. */
KADAPT_HIDDEN uint32_t kadapt_blocks_take_fresh(struct kadapt_zone *zone,
						const struct kadapt_wish *wish);

/* If the block is for keeping and the budget allows it: it is kept; 1 or 0. */
KADAPT_HIDDEN int kadapt_blocks_keep(struct kadapt_zone *zone, uint32_t first);

/* The kernel has the block's pages back. */
KADAPT_HIDDEN void kadapt_blocks_dismiss(struct kadapt_zone *zone, uint32_t first);

/* The same for at least so much of what is kept, or all; returns how much it was, up to `bytes`. */
KADAPT_HIDDEN size_t kadapt_blocks_give_kept(struct kadapt_zone *zone, size_t bytes);

/* Makes the block larger or smaller where it is; 1, counted, or 0. */
KADAPT_HIDDEN int kadapt_blocks_grow(struct kadapt_zone *zone, uint32_t first, uint32_t pages);
KADAPT_HIDDEN int kadapt_blocks_shrink(struct kadapt_zone *zone, uint32_t first, uint32_t pages);

/* For a zone without further blocks: nothing but blocks is mapped. */
KADAPT_HIDDEN void kadapt_blocks_unmap_free(struct kadapt_zone *zone);

#endif
