// SPDX-License-Identifier: MIT
#include "arena/blocks.h"
#include "arena/budget.h"
#include "arena/home.h"
#include "arena/idle.h"
#include "arena/ranges.h"
#include "libkadapt.h"
#include "pages/pages.h"

static size_t bytes_of(uint32_t pages)
{
	return (size_t)pages << KADAPT_PAGE_SHIFT;
}

static void put_rest(struct kadapt_zone *zone, uint32_t rest, enum kadapt_span_state state)
{
	if (rest)
		kadapt_span_put(zone, rest, state);
}

/* Cuts off the pages before the first aligned one and those behind the block. Puts both back. */
static uint32_t trim(struct kadapt_zone *zone, uint32_t first, const struct kadapt_wish *wish,
		     enum kadapt_span_state state)
{
	uintptr_t address = (uintptr_t)kadapt_span_address(zone, first);
	uintptr_t aligned = (address + wish->alignment - 1) & ~(wish->alignment - 1);
	uint32_t before = (uint32_t)((aligned - address) >> KADAPT_PAGE_SHIFT);
	uint32_t start = before ? kadapt_span_cut(zone, first, before) : first;

	put_rest(zone, kadapt_span_cut(zone, start, wish->pages + wish->room), state);
	if (before)
		kadapt_span_put(zone, first, state);
	return start;
}

/* Returns the length of a span that holds the aligned block wherever the span begins. */
static uint32_t pages_to_find(const struct kadapt_wish *wish)
{
	uint32_t pages = wish->pages + wish->room;

	if (wish->alignment <= KADAPT_PAGE_BYTES)
		return pages;
	return pages + (uint32_t)(wish->alignment >> KADAPT_PAGE_SHIFT) - 1;
}

static void begin_block(struct kadapt_zone *zone, uint32_t first, const struct kadapt_wish *wish)
{
	struct kadapt_span *span = &zone->table[first];

	span->used = wish->pages;
	span->ahead = 0;
	span->treatments = (uint8_t)wish->treatments;
}

/* Takes a kept span that is too short, with fresh pages behind it: the block has grown. */
static uint32_t extend_kept(struct kadapt_zone *zone, const struct kadapt_wish *wish, size_t *dirty)
{
	uint32_t first = kadapt_span_largest(zone, KADAPT_SPAN_KEPT);
	uint32_t present = first ? zone->table[first].pages : 0;
	uint32_t more = wish->pages - present;

	if (present < wish->pages / 2 || present >= wish->pages ||
	    wish->alignment > KADAPT_PAGE_BYTES)
		return 0;
	kadapt_span_pull(zone, first);
	if (!kadapt_span_extend(zone, first, more)) {
		kadapt_span_put(zone, first, KADAPT_SPAN_KEPT);
		return 0;
	}
	if (!kadapt_pages_open(kadapt_span_address(zone, first + present), bytes_of(more))) {
		kadapt_span_put(zone, kadapt_span_cut(zone, first, present), KADAPT_SPAN_FRESH);
		kadapt_span_put(zone, first, KADAPT_SPAN_KEPT);
		return 0;
	}
	kadapt_kept -= bytes_of(present);
	*dirty = bytes_of(present);
	return first;
}

uint32_t kadapt_blocks_take_kept(struct kadapt_zone *zone, const struct kadapt_wish *wish,
				 size_t *dirty)
{
	uint32_t first;

	if (!kadapt_kept || wish->room)
		return 0;
	first = kadapt_span_find(zone, KADAPT_SPAN_KEPT, pages_to_find(wish));
	if (first) {
		kadapt_span_pull(zone, first);
		first = trim(zone, first, wish, KADAPT_SPAN_KEPT);
		kadapt_kept -= bytes_of(wish->pages);
		*dirty = bytes_of(wish->pages);
	} else {
		first = extend_kept(zone, wish, dirty);
	}
	if (first)
		begin_block(zone, first, wish);
	return first;
}

static void count_ahead(struct kadapt_span *span, size_t bytes)
{
	span->ahead += (uint32_t)(bytes >> KADAPT_PAGE_SHIFT);
	kadapt_budget.ahead += bytes;
}

/*
 * Where the kernel does not serve ranges, the part of a block outside huge pages would
 * fault page by page. This makes it present at once, if the budget allows that.
 */
static void populate_rest(struct kadapt_zone *zone, uint32_t first, size_t in_huge_pages)
{
	struct kadapt_span *span = &zone->table[first];
	size_t bytes = bytes_of(span->used) - in_huge_pages;
	char *start = kadapt_span_address(zone, first) + in_huge_pages;

	if (!bytes || bytes > KADAPT_HUGE_BYTES || !kadapt_budget_allows_ahead(bytes))
		return;
	if (!kadapt_pages_populate(start, bytes))
		return;
	count_ahead(span, bytes);
}

/*
 * Returns how many bytes of the block will be in huge pages. One touch makes a whole
 * huge page present. So without a device these bytes count as made present ahead.
 */
static size_t ask_huge(struct kadapt_zone *zone, uint32_t first)
{
	struct kadapt_span *span = &zone->table[first];
	size_t whole = bytes_of(span->used) & ~(KADAPT_HUGE_BYTES - 1);

	if (!kadapt_pages_has_huge() || (kadapt_home_is() && !kadapt_budget_allows_ahead(whole)))
		return 0;
	if (kadapt_home_is())
		count_ahead(span, whole);
	kadapt_pages_ask_huge(kadapt_span_address(zone, first), bytes_of(span->used));
	return whole;
}

static void treat(struct kadapt_zone *zone, uint32_t first)
{
	const struct kadapt_span *span = &zone->table[first];
	size_t in_huge_pages = 0;

	if (span->treatments & KADAPT_TREAT_HUGE)
		in_huge_pages = ask_huge(zone, first);
	if (span->treatments & KADAPT_TREAT_POPULATE && !kadapt_range_is_known())
		populate_rest(zone, first, in_huge_pages);
}

static int is_for_huge(const struct kadapt_wish *wish)
{
	return wish->treatments & KADAPT_TREAT_HUGE && kadapt_pages_has_huge() &&
	       bytes_of(wish->pages) >= KADAPT_HUGE_BYTES;
}

static uint32_t find_fresh(struct kadapt_zone *zone, const struct kadapt_wish *wish)
{
	uint32_t pages = pages_to_find(wish);
	uint32_t first = kadapt_span_find(zone, KADAPT_SPAN_FRESH, pages);

	if (!first)
		return kadapt_span_raise(zone, pages);
	kadapt_span_pull(zone, first);
	return first;
}

uint32_t kadapt_blocks_take_fresh(struct kadapt_zone *zone, const struct kadapt_wish *wish)
{
	struct kadapt_wish aligned = *wish;
	uint32_t first;

	if (is_for_huge(wish) && wish->alignment < KADAPT_HUGE_BYTES)
		aligned.alignment = KADAPT_HUGE_BYTES;
	first = find_fresh(zone, &aligned);
	if (!first)
		return 0;
	first = trim(zone, first, &aligned, KADAPT_SPAN_FRESH);
	if (!kadapt_pages_open(kadapt_span_address(zone, first), bytes_of(wish->pages))) {
		kadapt_span_put(zone, first, KADAPT_SPAN_FRESH);
		return 0;
	}
	begin_block(zone, first, wish);
	treat(zone, first);
	return first;
}

/* Leaves only the block's own pages in the span, and puts the room behind them back. */
static void end_block(struct kadapt_zone *zone, uint32_t first)
{
	struct kadapt_span *span = &zone->table[first];

	kadapt_budget.ahead -= bytes_of(span->ahead);
	put_rest(zone, kadapt_span_cut(zone, first, span->used), KADAPT_SPAN_FRESH);
}

static void put_kept(struct kadapt_zone *zone, uint32_t first)
{
	kadapt_kept += bytes_of(zone->table[first].pages);
	zone->table[first].age = KADAPT_AGE_NEW;
	kadapt_span_put(zone, first, KADAPT_SPAN_KEPT);
}

int kadapt_blocks_keep(struct kadapt_zone *zone, uint32_t first)
{
	const struct kadapt_span *span = &zone->table[first];
	size_t bytes = bytes_of(span->used);

	if (!(span->treatments & KADAPT_TREAT_KEEP) || !kadapt_budget_allows(bytes))
		return 0;
	if (!kadapt_idle_is_possible(kadapt_span_address(zone, first), bytes))
		return 0;
	end_block(zone, first);
	put_kept(zone, first);
	return 1;
}

/* Returns 1, or 0 if the kernel lacks memory for its own tables: then empty pages stay kept. */
static int close_span(struct kadapt_zone *zone, uint32_t first)
{
	char *start = kadapt_span_address(zone, first);
	size_t bytes = bytes_of(zone->table[first].pages);

	if (kadapt_pages_close(start, bytes)) {
		kadapt_span_put(zone, first, KADAPT_SPAN_FRESH);
		return 1;
	}
	kadapt_pages_drop(start, bytes);
	put_kept(zone, first);
	return 0;
}

void kadapt_blocks_free(struct kadapt_zone *zone, uint32_t first)
{
	end_block(zone, first);
	close_span(zone, first);
}

/* Gives the last pages of the span back, at most `wanted`. Returns their number, 0 on failure. */
static uint32_t give_some(struct kadapt_zone *zone, uint32_t first, size_t wanted)
{
	uint32_t pages = zone->table[first].pages;
	uint32_t given = pages < wanted ? pages : (uint32_t)wanted;
	uint32_t rest = first;

	kadapt_span_pull(zone, first);
	kadapt_kept -= bytes_of(given);
	if (given < pages) {
		rest = kadapt_span_cut(zone, first, pages - given);
		kadapt_span_put(zone, first, KADAPT_SPAN_KEPT);
	}
	return close_span(zone, rest) ? given : 0;
}

size_t kadapt_blocks_give_kept(struct kadapt_zone *zone, size_t bytes)
{
	size_t given = 0;

	while (given < bytes) {
		uint32_t first = kadapt_span_largest(zone, KADAPT_SPAN_KEPT);
		uint32_t pages =
		    first ? give_some(zone, first, ((bytes - given - 1) >> KADAPT_PAGE_SHIFT) + 1)
			  : 0;

		if (!pages)
			return given;
		given += bytes_of(pages);
	}
	return bytes;
}

int kadapt_blocks_grow(struct kadapt_zone *zone, uint32_t first, uint32_t pages)
{
	struct kadapt_span *span = &zone->table[first];
	uint32_t before = span->used;

	if (pages > span->pages && !kadapt_span_extend(zone, first, pages - span->pages))
		return 0;
	if (!kadapt_pages_open(kadapt_span_address(zone, first + before), bytes_of(pages - before)))
		return 0;
	span->used = pages;
	if (span->treatments & KADAPT_TREAT_HUGE && !kadapt_home_is())
		kadapt_pages_ask_huge(kadapt_span_address(zone, first), bytes_of(pages));
	kadapt_budget_use(bytes_of(pages - before));
	return 1;
}

int kadapt_blocks_shrink(struct kadapt_zone *zone, uint32_t first, uint32_t pages)
{
	struct kadapt_span *span = &zone->table[first];
	uint32_t less = span->used - pages;

	if (!less)
		return 1;
	if (!kadapt_pages_close(kadapt_span_address(zone, first + pages), bytes_of(less)))
		return 0;
	span->used = pages;
	put_rest(zone, kadapt_span_cut(zone, first, pages), KADAPT_SPAN_FRESH);
	kadapt_budget_unuse(bytes_of(less));
	return 1;
}

void kadapt_blocks_unmap_free(struct kadapt_zone *zone)
{
	for (uint32_t first = 1; first < zone->top; first += zone->table[first].pages)
		if (zone->table[first].state == KADAPT_SPAN_FRESH)
			kadapt_pages_unmap(kadapt_span_address(zone, first),
					   bytes_of(zone->table[first].pages));
	kadapt_pages_unmap(kadapt_span_address(zone, zone->top), bytes_of(zone->limit - zone->top));
	kadapt_zone_end(zone);
}
