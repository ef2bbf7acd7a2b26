/* SPDX-License-Identifier: MIT */
/*
 * Which pages of a zone of the arena are whose. A span is a run of pages of one
 * state. What is known of it stands in a table beside the zone, at the number of
 * its first page (its length at that of its last, too), so that nothing that the
 * program writes beyond its blocks can damage it, and a span of no content costs
 * no page.
 *
 * Nothing here touches the pages themselves. The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_SPANS_H
#define LIBKADAPT_SPANS_H

#include <stdint.h>

#include "base/device_file.h"
#include "pages/machine.h"

enum kadapt_span_state {
	KADAPT_SPAN_EDGE,  /* none: before the first page and from the top on */
	KADAPT_SPAN_FRESH, /* addresses only */
	KADAPT_SPAN_KEPT,  /* freed by the program, but still accessible and present */
	KADAPT_SPAN_USED,  /* a block of the program's, or in the caller's hands */
};

struct kadapt_span {
	uint32_t pages;
	uint32_t used;	   /* of a block: accessible, from the first on; the rest is room to grow */
	uint32_t ahead;	   /* of a block: made present before it was touched */
	uint32_t next;	   /* of a free one: in the list of its size; 0: none */
	uint32_t previous; /* likewise */
	uint8_t state;
	uint8_t treatments; /* of a block: KADAPT_TREAT_* */
};

/* Four to each power of two. */
#define KADAPT_SPAN_BINS 128

struct kadapt_zone {
	char *start;		   /* address of page 0, which is nobody's */
	uint32_t limit;		   /* pages that there are addresses for */
	uint32_t top;		   /* pages from here on were never given out, or came back */
	struct kadapt_span *table; /* `limit` of them and one more, below `ready` accessible */
	uint32_t ready;
	uint32_t bins[KADAPT_SPAN_USED][KADAPT_SPAN_BINS]; /* by state and size */
};

/* Addresses for so many pages and their table are at `start` and `table`, inaccessible. */
KADAPT_HIDDEN void kadapt_zone_begin(struct kadapt_zone *zone, char *start, uint32_t pages,
				     struct kadapt_span *table);

/* The smallest span found of this state with so many pages, or 0. It stays in its list. */
KADAPT_HIDDEN uint32_t kadapt_span_find(const struct kadapt_zone *zone,
					enum kadapt_span_state state, uint32_t pages);

/* One of the largest of this state, or 0. */
KADAPT_HIDDEN uint32_t kadapt_span_largest(const struct kadapt_zone *zone,
					   enum kadapt_span_state state);

/* Out of its list: the caller's now, in state USED. */
KADAPT_HIDDEN void kadapt_span_pull(struct kadapt_zone *zone, uint32_t first);

/* A fresh span above all others, the caller's; 0 where addresses or memory have run out. */
KADAPT_HIDDEN uint32_t kadapt_span_raise(struct kadapt_zone *zone, uint32_t pages);

/* Cuts the caller's span after so many pages; the rest, the caller's too, or 0 if none is left. */
KADAPT_HIDDEN uint32_t kadapt_span_cut(struct kadapt_zone *zone, uint32_t first, uint32_t pages);

/* The caller's span becomes free in this state and one with its neighbours of that state. */
KADAPT_HIDDEN void kadapt_span_put(struct kadapt_zone *zone, uint32_t first,
				   enum kadapt_span_state state);

/* Makes the caller's span longer by so many fresh pages, where they are right behind it; 1 or 0. */
KADAPT_HIDDEN int kadapt_span_extend(struct kadapt_zone *zone, uint32_t first, uint32_t pages);

/* There will be no more spans: the table is mapped as far as it is used, and no further. */
KADAPT_HIDDEN void kadapt_zone_end(struct kadapt_zone *zone);

static inline char *kadapt_span_address(const struct kadapt_zone *zone, uint32_t first)
{
	return zone->start + ((size_t)first << KADAPT_PAGE_SHIFT);
}

#endif
