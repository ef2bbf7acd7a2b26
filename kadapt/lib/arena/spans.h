/* SPDX-License-Identifier: MIT */
/*
 * The spans of a zone. A span is a run of pages of one state. Its data is in a table
 * beside the zone, at the number of its first page; the entry of its last page repeats
 * the length. So a program that writes beyond its blocks cannot damage the data, and a
 * span without contents needs no present page.
 *
 * These functions never touch the pages themselves. The caller holds the arena's lock.
 */
#ifndef LIBKADAPT_SPANS_H
#define LIBKADAPT_SPANS_H

#include <stdint.h>

#include "base/device_file.h"
#include "pages/machine.h"

enum kadapt_span_state {
	KADAPT_SPAN_EDGE,  /* no span begins here: page 0, the top, and pages inside a span */
	KADAPT_SPAN_FRESH, /* addresses only */
	KADAPT_SPAN_KEPT,  /* freed by the program, still accessible */
	KADAPT_SPAN_USED,  /* a block of the program, or owned by the caller */
};

/* How long a kept span has been kept, or most of it. */
enum kadapt_span_age {
	KADAPT_AGE_NEW,	 /* since the last look */
	KADAPT_AGE_OLD,	 /* since before the last look */
	KADAPT_AGE_IDLE, /* the kernel may take the pages */
};

struct kadapt_span {
	uint32_t pages;
	uint32_t used;	   /* of a block: its first pages, accessible; the rest is to grow into */
	uint32_t ahead;	   /* of a block: pages made present before they were touched */
	uint32_t next;	   /* of a free span: the next in its bin; 0: none */
	uint32_t previous; /* likewise */
	uint8_t state;
	uint8_t treatments; /* of a block: KADAPT_TREAT_* */
	uint8_t age;	    /* of a kept span: enum kadapt_span_age */
};

/* Four bins for each power of two. */
#define KADAPT_SPAN_BINS 128

struct kadapt_zone {
	char *start;		   /* address of page 0, which is in no span */
	uint32_t limit;		   /* number of pages that have addresses */
	uint32_t top;		   /* pages from here on are in no span */
	struct kadapt_span *table; /* `limit` + 1 entries; those below `ready` are accessible */
	uint32_t ready;
	uint32_t bins[KADAPT_SPAN_USED][KADAPT_SPAN_BINS]; /* by state and size */
};

/* Begins a zone of `pages` pages. The addresses at `start` and `table` are reserved only. */
KADAPT_HIDDEN void kadapt_zone_begin(struct kadapt_zone *zone, char *start, uint32_t pages,
				     struct kadapt_span *table);

/* Returns a small span of this state with at least `pages` pages, or 0. It stays in its bin. */
KADAPT_HIDDEN uint32_t kadapt_span_find(const struct kadapt_zone *zone,
					enum kadapt_span_state state, uint32_t pages);

/* Returns one of the largest spans of this state, or 0. */
KADAPT_HIDDEN uint32_t kadapt_span_largest(const struct kadapt_zone *zone,
					   enum kadapt_span_state state);

/* Takes the span out of its bin. The caller owns it then, in state USED. */
KADAPT_HIDDEN void kadapt_span_pull(struct kadapt_zone *zone, uint32_t first);

/* Returns a fresh span above all others, now the caller's, or 0 without addresses or memory. */
KADAPT_HIDDEN uint32_t kadapt_span_raise(struct kadapt_zone *zone, uint32_t pages);

/* Cuts the caller's span after `pages` pages. Returns the rest, also the caller's, or 0. */
KADAPT_HIDDEN uint32_t kadapt_span_cut(struct kadapt_zone *zone, uint32_t first, uint32_t pages);

/* Frees the caller's span in this state, merged with its neighbours of that state. */
KADAPT_HIDDEN void kadapt_span_put(struct kadapt_zone *zone, uint32_t first,
				   enum kadapt_span_state state);

/* Adds the `pages` right behind the caller's span if they are fresh. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_span_extend(struct kadapt_zone *zone, uint32_t first, uint32_t pages);

/* For a zone that gets no more spans: unmaps the unused part of the table. */
KADAPT_HIDDEN void kadapt_zone_end(struct kadapt_zone *zone);

static inline char *kadapt_span_address(const struct kadapt_zone *zone, uint32_t first)
{
	return zone->start + ((size_t)first << KADAPT_PAGE_SHIFT);
}

#endif
