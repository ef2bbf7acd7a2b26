// SPDX-License-Identifier: MIT
#include "arena/spans.h"
#include "pages/pages.h"

/* The table is made accessible in steps of so many entries. */
#define TABLE_STEP ((uint32_t)1 << 14)

/* The most spans of a bin that are searched for the smallest that fits. */
#define LOOKS 64

static unsigned int bin_of(uint32_t pages)
{
	unsigned int power = 31 - (unsigned int)__builtin_clz(pages);
	unsigned int quarter = power >= 2 ? pages >> (power - 2) & 3 : pages << (2 - power) & 3;

	return power * 4 + quarter;
}

/*
 * Writes the length to the entries of the first and the last page, where neighbours look
 * for it. Only the first page's entry says USED, whatever address a program may free.
 */
static void set_length(struct kadapt_zone *zone, uint32_t first, uint32_t pages,
		       enum kadapt_span_state state)
{
	struct kadapt_span *last = &zone->table[first + pages - 1];

	last->pages = pages;
	last->state = state == KADAPT_SPAN_USED ? KADAPT_SPAN_EDGE : (uint8_t)state;
	zone->table[first].pages = pages;
	zone->table[first].state = (uint8_t)state;
}

static void push(struct kadapt_zone *zone, uint32_t first)
{
	struct kadapt_span *span = &zone->table[first];
	uint32_t *head = &zone->bins[span->state][bin_of(span->pages)];

	span->previous = 0;
	span->next = *head;
	if (*head)
		zone->table[*head].previous = first;
	*head = first;
}

void kadapt_span_pull(struct kadapt_zone *zone, uint32_t first)
{
	struct kadapt_span *span = &zone->table[first];

	if (span->next)
		zone->table[span->next].previous = span->previous;
	if (span->previous)
		zone->table[span->previous].next = span->next;
	else
		zone->bins[span->state][bin_of(span->pages)] = span->next;
	set_length(zone, first, span->pages, KADAPT_SPAN_USED);
}

void kadapt_zone_begin(struct kadapt_zone *zone, char *start, uint32_t pages,
		       struct kadapt_span *table)
{
	*zone = (struct kadapt_zone){.start = start, .limit = pages, .top = 1, .table = table};
}

void kadapt_zone_end(struct kadapt_zone *zone)
{
	const size_t page = KADAPT_PAGE_BYTES - 1;
	size_t used = ((size_t)zone->ready * sizeof(*zone->table) + page) & ~page;
	size_t all = (((size_t)zone->limit + 1) * sizeof(*zone->table) + page) & ~page;

	if (used < all)
		kadapt_pages_unmap((char *)zone->table + used, all - used);
}

static uint32_t smallest(const struct kadapt_zone *zone, uint32_t head, uint32_t pages)
{
	uint32_t best = 0;
	int looks = LOOKS;

	for (uint32_t span = head; span && looks; span = zone->table[span].next, looks--)
		if (zone->table[span].pages >= pages &&
		    (!best || zone->table[span].pages < zone->table[best].pages))
			best = span;
	return best;
}

uint32_t kadapt_span_find(const struct kadapt_zone *zone, enum kadapt_span_state state,
			  uint32_t pages)
{
	for (unsigned int bin = bin_of(pages); bin < KADAPT_SPAN_BINS; bin++) {
		uint32_t found = smallest(zone, zone->bins[state][bin], pages);

		if (found)
			return found;
	}
	return 0;
}

uint32_t kadapt_span_largest(const struct kadapt_zone *zone, enum kadapt_span_state state)
{
	for (unsigned int bin = KADAPT_SPAN_BINS; bin-- > 0;)
		if (zone->bins[state][bin])
			return zone->bins[state][bin];
	return 0;
}

/* Makes the table accessible up to and including this entry. Returns 1 or 0. */
static int make_ready(struct kadapt_zone *zone, uint32_t entry)
{
	uint32_t wanted = (entry / TABLE_STEP + 1) * TABLE_STEP;

	if (entry < zone->ready)
		return 1;
	if (wanted > zone->limit)
		wanted = zone->limit + 1;
	if (!kadapt_pages_open(zone->table, (size_t)wanted * sizeof(*zone->table)))
		return 0;
	zone->ready = wanted;
	return 1;
}

uint32_t kadapt_span_raise(struct kadapt_zone *zone, uint32_t pages)
{
	uint32_t first = zone->top;

	if (pages > zone->limit - first || !make_ready(zone, first + pages))
		return 0;
	zone->top += pages;
	set_length(zone, first, pages, KADAPT_SPAN_USED);
	return first;
}

uint32_t kadapt_span_cut(struct kadapt_zone *zone, uint32_t first, uint32_t pages)
{
	uint32_t all = zone->table[first].pages;

	if (pages == all)
		return 0;
	set_length(zone, first, pages, KADAPT_SPAN_USED);
	set_length(zone, first + pages, all - pages, KADAPT_SPAN_USED);
	zone->table[first + pages].age = zone->table[first].age;
	return first + pages;
}

/* Lowers the top if the span is fresh and ends there. Returns 1 or 0. */
static int lower_top(struct kadapt_zone *zone, uint32_t first, enum kadapt_span_state state)
{
	if (state != KADAPT_SPAN_FRESH || first + zone->table[first].pages != zone->top)
		return 0;
	zone->top = first;
	zone->table[first].state = KADAPT_SPAN_EDGE;
	return 1;
}

/*
 * The larger part decides: a small block that comes and goes does not keep its large
 * neighbours young. If a part is not idle, neither is the whole.
 */
static uint8_t merged_age(uint8_t age, uint32_t pages, const struct kadapt_span *other)
{
	uint8_t larger = pages > other->pages ? age : other->age;

	return age != other->age && larger == KADAPT_AGE_IDLE ? KADAPT_AGE_OLD : larger;
}

void kadapt_span_put(struct kadapt_zone *zone, uint32_t first, enum kadapt_span_state state)
{
	uint32_t pages = zone->table[first].pages;
	uint32_t behind = first + pages;
	uint8_t age = zone->table[first].age;
	const struct kadapt_span *before = &zone->table[first - 1];

	/* No block begins here any more, even if the page ends up inside a merged span. */
	zone->table[first].state = KADAPT_SPAN_EDGE;
	if (behind < zone->top && zone->table[behind].state == state) {
		kadapt_span_pull(zone, behind);
		age = merged_age(age, pages, &zone->table[behind]);
		pages += zone->table[behind].pages;
	}
	if (before->state == state) {
		first -= before->pages;
		age = merged_age(age, pages, &zone->table[first]);
		pages += before->pages;
		kadapt_span_pull(zone, first);
	}
	set_length(zone, first, pages, state);
	zone->table[first].age = age;
	if (!lower_top(zone, first, state))
		push(zone, first);
}

static int extend_to_top(struct kadapt_zone *zone, uint32_t first, uint32_t pages)
{
	uint32_t behind = kadapt_span_raise(zone, pages);

	if (!behind)
		return 0;
	zone->table[behind].state = KADAPT_SPAN_EDGE;
	set_length(zone, first, zone->table[first].pages + pages, KADAPT_SPAN_USED);
	return 1;
}

int kadapt_span_extend(struct kadapt_zone *zone, uint32_t first, uint32_t pages)
{
	struct kadapt_span *span = &zone->table[first];
	uint32_t behind = first + span->pages;
	uint32_t rest;

	if (behind == zone->top)
		return extend_to_top(zone, first, pages);
	if (zone->table[behind].state != KADAPT_SPAN_FRESH || zone->table[behind].pages < pages)
		return 0;
	kadapt_span_pull(zone, behind);
	rest = kadapt_span_cut(zone, behind, pages);
	zone->table[behind].state = KADAPT_SPAN_EDGE;
	set_length(zone, first, span->pages + pages, KADAPT_SPAN_USED);
	if (rest)
		kadapt_span_put(zone, rest, KADAPT_SPAN_FRESH);
	return 1;
}
