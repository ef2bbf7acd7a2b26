/* SPDX-License-Identifier: MIT */
/*
 * The arena's zones: one whose page faults the kernel serves in bulk if it can, and one
 * of ordinary memory. The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_ZONES_H
#define LIBKADAPT_ZONES_H

#include "arena/spans.h"

#define KADAPT_ZONES 2

extern struct kadapt_zone kadapt_zones[KADAPT_ZONES] KADAPT_HIDDEN;

/* Reserves the zones' addresses, which are the arena's from here on. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_zones_reserve(void);

/* Called in a forked child, which begins without ranges. */
KADAPT_HIDDEN void kadapt_zones_begin_child(void);

/* Returns the zone for blocks with these treatments. */
KADAPT_HIDDEN struct kadapt_zone *kadapt_zone_for(unsigned int treatments);

/* Returns a block's zone and sets *first to its first page; NULL if no block begins there. */
KADAPT_HIDDEN struct kadapt_zone *kadapt_zone_of(const void *block, uint32_t *first);

/* Returns the last block that begins at or before this address, or NULL if there is none. */
KADAPT_HIDDEN struct kadapt_span *kadapt_zone_block_around(const void *address);

#endif
