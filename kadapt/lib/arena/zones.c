// SPDX-License-Identifier: MIT
#include "arena/addresses.h"
#include "arena/ranges.h"
#include "arena/zones.h"
#include "kadapt.h"
#include "libkadapt.h"
#include "pages/machine.h"
#include "pages/pages.h"

/* A zone's addresses, in multiples of the machine's memory: holes must not use them up. */
#define ZONE_MEMORIES 2

enum { DENSE, PLAIN };

uintptr_t kadapt_arena_start;
uintptr_t kadapt_arena_bytes;

struct kadapt_zone kadapt_zones[KADAPT_ZONES];

/* Whether this process itself, not its parent before a fork, has bound the dense zone. */
static int is_bound;

static void begin_zones(char *start, size_t zone_bytes, char *table, size_t table_bytes)
{
	for (int i = 0; i < KADAPT_ZONES; i++)
		kadapt_zone_begin(&kadapt_zones[i], start + (size_t)i * zone_bytes,
				  (uint32_t)(zone_bytes >> KADAPT_PAGE_SHIFT),
				  (struct kadapt_span *)(table + (size_t)i * table_bytes));
}

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

/* The zones lie one behind the other, and their tables behind them. */
int kadapt_zones_reserve(void)
{
	size_t zone_bytes = round_up(kadapt_machine_bytes() * ZONE_MEMORIES, KADAPT_HUGE_BYTES);
	size_t entries = (zone_bytes >> KADAPT_PAGE_SHIFT) + 1;
	size_t table_bytes = round_up(entries * sizeof(struct kadapt_span), KADAPT_PAGE_BYTES);
	size_t all = KADAPT_ZONES * (zone_bytes + table_bytes) + KADAPT_HUGE_BYTES;
	char *start;

	if (zone_bytes >> KADAPT_PAGE_SHIFT >= UINT32_MAX / 2)
		return 0;
	start = kadapt_pages_reserve(all);
	if (!start)
		return 0;
	start = (char *)round_up((uintptr_t)start, KADAPT_HUGE_BYTES);
	begin_zones(start, zone_bytes, start + KADAPT_ZONES * zone_bytes, table_bytes);
	kadapt_arena_start = (uintptr_t)start;
	kadapt_arena_bytes = KADAPT_ZONES * zone_bytes;
	return 1;
}

static void bind_dense(void)
{
	if (is_bound)
		return;
	is_bound = 1;
	kadapt_range_bind((uintptr_t)kadapt_zones[DENSE].start,
			  (size_t)kadapt_zones[DENSE].limit << KADAPT_PAGE_SHIFT,
			  KADAPT_MEMORY_DENSE);
}

void kadapt_zones_begin_child(void)
{
	is_bound = 0;
}

struct kadapt_zone *kadapt_zone_for(unsigned int treatments)
{
	if (!(treatments & KADAPT_TREAT_POPULATE))
		return &kadapt_zones[PLAIN];
	bind_dense();
	return &kadapt_zones[DENSE];
}

struct kadapt_zone *kadapt_zone_of(const void *block, uint32_t *first)
{
	size_t offset = (uintptr_t)block - kadapt_arena_start;
	size_t zone_bytes = kadapt_arena_bytes / KADAPT_ZONES;
	struct kadapt_zone *zone;

	if (!kadapt_is_arenas(block) || offset & (KADAPT_PAGE_BYTES - 1))
		return NULL;
	zone = &kadapt_zones[offset / zone_bytes];
	*first = (uint32_t)(offset % zone_bytes >> KADAPT_PAGE_SHIFT);
	if (*first >= zone->top || zone->table[*first].state != KADAPT_SPAN_USED)
		return NULL;
	return zone;
}

struct kadapt_span *kadapt_zone_block_around(const void *address)
{
	size_t offset = (uintptr_t)address - kadapt_arena_start;
	size_t zone_bytes = kadapt_arena_bytes / KADAPT_ZONES;
	const struct kadapt_zone *zone = &kadapt_zones[offset / zone_bytes];
	uint32_t page = (uint32_t)(offset % zone_bytes >> KADAPT_PAGE_SHIFT);

	if (page >= zone->top)
		return NULL;
	for (uint32_t first = page; first; first--)
		if (zone->table[first].state == KADAPT_SPAN_USED)
			return &zone->table[first];
	return NULL;
}
