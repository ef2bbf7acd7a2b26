/* SPDX-License-Identifier: MIT */
/*
 * The arena's zones: one whose page faults the kernel serves in bulk, where it can,
 * and one as any other memory. The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_ZONES_H
#define LIBKADAPT_ZONES_H

#include "arena/spans.h"

#define KADAPT_ZONES 2

extern struct kadapt_zone kadapt_zones[KADAPT_ZONES] KADAPT_HIDDEN;

/* Addresses for them, from here on the arena's; 1 or 0. */
KADAPT_HIDDEN int kadapt_zones_reserve(void);

/* A forked child, of which the kernel has been told nothing. */
KADAPT_HIDDEN void kadapt_zones_begin_child(void);

/* Where blocks with these treatments are. */
KADAPT_HIDDEN struct kadapt_zone *kadapt_zone_for(unsigned int treatments);

/* The zone of a block and the number of its first page; NULL if no block begins there. */
KADAPT_HIDDEN struct kadapt_zone *kadapt_zone_of(const void *block, uint32_t *first);

/* The block that this address is in; NULL if there is none. */
KADAPT_HIDDEN struct kadapt_span *kadapt_zone_block_around(const void *address);

#endif
