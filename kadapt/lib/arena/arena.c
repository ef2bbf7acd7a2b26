// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "arena/arena.h"
#include "arena/blocks.h"
#include "arena/budget.h"
#include "arena/home.h"
#include "arena/idle.h"
#include "arena/process.h"
#include "arena/zones.h"
#include "base/optional.h"
#include "libkadapt.h"
#include "pages/machine.h"
#include "pages/pages.h"
#include "base/levels.h"

_Atomic size_t kadapt_memory_least = SIZE_MAX;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kadapt_memory_totals totals;

/* Makes the arena at the first block, because the program may set limits before that. */
static int is_there(void)
{
	static int is_tried;

	if (!is_tried) {
		is_tried = 1;
		if (!kadapt_process_allows_arena() || !kadapt_zones_reserve())
			atomic_store(&kadapt_memory_least, SIZE_MAX);
		kadapt_budget_begin(kadapt_plan.keep_bytes);
	}
	return kadapt_memory_least != SIZE_MAX;
}

/* Gives `bytes` of kept pages back, or all if there are fewer. */
static void give_kept(size_t bytes)
{
	for (int i = 0; i < KADAPT_ZONES && bytes; i++)
		bytes -= kadapt_blocks_give_kept(&kadapt_zones[i], bytes);
}

/* If pages cannot be idle, none are kept from here on. */
static void look_for_idle(void)
{
	if (!kadapt_idle_look())
		give_kept(SIZE_MAX);
}

/* Takes fresh pages. If there is no memory, gives the kept pages back and tries again. */
static uint32_t take_fresh(struct kadapt_zone *zone, const struct kadapt_wish *wish)
{
	uint32_t first;

	first = kadapt_blocks_take_fresh(zone, wish);
	if (!first && kadapt_kept) {
		give_kept(SIZE_MAX);
		first = kadapt_blocks_take_fresh(zone, wish);
	}
	return first;
}

/* Takes a block and counts it. The caller holds the lock. */
static void *take(const struct kadapt_wish *wish, size_t *dirty)
{
	struct kadapt_zone *zone = kadapt_zone_for(wish->treatments);
	size_t bytes = (size_t)wish->pages << KADAPT_PAGE_SHIFT;
	uint32_t first;

	*dirty = 0;
	kadapt_budget_use(bytes);
	first = kadapt_blocks_take_kept(zone, wish, dirty);
	if (!first) {
		int is_mallocs = kadapt_home_is_mallocs(bytes, wish->treatments);

		give_kept(kadapt_budget_excess());
		first = is_mallocs ? 0 : take_fresh(zone, wish);
		totals.refused += !first && !is_mallocs;
	}
	if (!first) {
		kadapt_budget_unuse(bytes);
		return NULL;
	}
	kadapt_budget.fresh += bytes - *dirty;
	totals.blocks++;
	totals.bytes += bytes;
	totals.again_bytes += *dirty;
	return kadapt_span_address(zone, first);
}

/* Returns the number of pages for this size, or 0 if no block can have it. */
static uint32_t pages_for(size_t size)
{
	if (!size || size > kadapt_arena_bytes / KADAPT_ZONES)
		return 0;
	return (uint32_t)((size + KADAPT_PAGE_BYTES - 1) >> KADAPT_PAGE_SHIFT);
}

void *kadapt_arena_take(size_t size, size_t alignment, unsigned int treatments, size_t *dirty)
{
	struct kadapt_wish wish = {.alignment = alignment};
	int saved_errno = errno;
	void *block = NULL;

	atomic_fetch_add_explicit(&kadapt_sites_allocated, size, memory_order_relaxed);
	if (kadapt_is_plain(KADAPT_TRIED_MEMORY))
		return NULL;
	pthread_mutex_lock(&lock);
	if (is_there() && kadapt_home_serves(treatments, &wish.treatments)) {
		wish.pages = pages_for(size);
		if (wish.pages && alignment <= kadapt_arena_bytes / KADAPT_ZONES)
			block = take(&wish, dirty);
	}
	pthread_mutex_unlock(&lock);
	kadapt_home_teach();
	errno = saved_errno;
	return block;
}

static void give(struct kadapt_zone *zone, uint32_t first)
{
	size_t bytes = (size_t)zone->table[first].used << KADAPT_PAGE_SHIFT;

	kadapt_budget_unuse(bytes);
	kadapt_home_freed(bytes);
	if (kadapt_blocks_keep(zone, first))
		give_kept(kadapt_budget_excess());
	else
		kadapt_blocks_free(zone, first);
	look_for_idle();
}

int kadapt_arena_give(void *block)
{
	int saved_errno = errno;
	struct kadapt_zone *zone;
	uint32_t first;

	pthread_mutex_lock(&lock);
	zone = kadapt_zone_of(block, &first);
	if (zone)
		give(zone, first);
	pthread_mutex_unlock(&lock);
	kadapt_home_teach();
	errno = saved_errno;
	return !!zone;
}

size_t kadapt_arena_usable(const void *block)
{
	const struct kadapt_zone *zone;
	size_t bytes = 0;
	uint32_t first;

	pthread_mutex_lock(&lock);
	zone = kadapt_zone_of(block, &first);
	if (zone)
		bytes = (size_t)zone->table[first].used << KADAPT_PAGE_SHIFT;
	pthread_mutex_unlock(&lock);
	return bytes;
}

static int resize(void *block, uint32_t pages)
{
	uint32_t first;
	struct kadapt_zone *zone = kadapt_zone_of(block, &first);
	uint32_t before = zone ? zone->table[first].used : 0;

	if (!zone || !pages)
		return 0;
	if (pages <= before)
		return kadapt_blocks_shrink(zone, first, pages);
	if (kadapt_memory_least == SIZE_MAX || !kadapt_blocks_grow(zone, first, pages))
		return 0;
	give_kept(kadapt_budget_excess());
	return 1;
}

int kadapt_arena_resize(void *block, size_t size)
{
	int saved_errno = errno;
	int is_done;

	pthread_mutex_lock(&lock);
	is_done = resize(block, pages_for(size));
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
	return is_done;
}

/* Takes a block to move to, with as much room behind it. The budget counts only the new block. */
static void *place_for(void *block, size_t size)
{
	uint32_t first;
	struct kadapt_zone *zone = kadapt_zone_of(block, &first);
	size_t used = zone ? (size_t)zone->table[first].used << KADAPT_PAGE_SHIFT : 0;
	struct kadapt_wish wish = {.pages = pages_for(size), .alignment = 1};
	size_t dirty;
	void *place;

	if (!zone || !wish.pages || kadapt_memory_least == SIZE_MAX)
		return NULL;
	wish.treatments = zone->table[first].treatments;
	wish.room = wish.pages;
	kadapt_budget_unuse(used);
	place = take(&wish, &dirty);
	if (!place)
		kadapt_budget_use(used);
	return place;
}

static void move_contents(char *to, char *from, size_t bytes)
{
	if (!kadapt_home_is() || !kadapt_pages_move(to, from, bytes))
		kadapt_pages_copy(to, from, bytes);
}

/* Of two sizes the smaller, in whole pages. */
static size_t smaller(size_t bytes, size_t size)
{
	size_t whole = (size_t)pages_for(size) << KADAPT_PAGE_SHIFT;

	return bytes < whole ? bytes : whole;
}

void *kadapt_arena_move(void *block, size_t size)
{
	int saved_errno = errno;
	size_t bytes = smaller(kadapt_arena_usable(block), size);
	struct kadapt_zone *zone;
	uint32_t first;
	void *place;

	pthread_mutex_lock(&lock);
	place = place_for(block, size);
	pthread_mutex_unlock(&lock);
	if (place) {
		move_contents(place, block, bytes);
		pthread_mutex_lock(&lock);
		zone = kadapt_zone_of(block, &first);
		if (zone)
			kadapt_blocks_free(zone, first);
		pthread_mutex_unlock(&lock);
	}
	errno = saved_errno;
	return place;
}

void kadapt_arena_mark_changed(const void *address)
{
	struct kadapt_span *block;

	pthread_mutex_lock(&lock);
	block = kadapt_zone_block_around(address);
	if (block)
		block->treatments &= (uint8_t)~KADAPT_TREAT_KEEP;
	pthread_mutex_unlock(&lock);
}

int kadapt_arena_give_kept(void)
{
	int saved_errno = errno;
	int is_any;

	pthread_mutex_lock(&lock);
	is_any = kadapt_kept != 0;
	give_kept(SIZE_MAX);
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
	return is_any;
}

/* Called before the program limits its addresses: reserved ones would count, too. */
void kadapt_arena_close(void)
{
	int saved_errno = errno;

	pthread_mutex_lock(&lock);
	if (kadapt_arena_bytes && kadapt_memory_least != SIZE_MAX) {
		kadapt_pages_retire();
		kadapt_budget_begin(0);
		give_kept(SIZE_MAX);
		for (int i = 0; i < KADAPT_ZONES; i++)
			kadapt_blocks_unmap_free(&kadapt_zones[i]);
	}
	atomic_store(&kadapt_memory_least, SIZE_MAX);
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
}

/*
 * A phase may begin a million times a second, so the budget is checked once per tick of
 * the kernel's clock, 1 to 10 ms. In a tick no process grows by much more than
 * KADAPT_BUDGET_SLACK.
 */
static int is_new_tick(void)
{
	static _Atomic long long last;
	struct timespec now;
	long long tick;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	tick = now.tv_sec * 1000000000LL + now.tv_nsec;
	return atomic_exchange_explicit(&last, tick, memory_order_relaxed) != tick;
}

/* Called when a phase begins, perhaps in a signal handler: if the lock is held, does nothing. */
void kadapt_memory_look(void)
{
	int saved_errno = errno;

	if (!kadapt_kept || !is_new_tick() || pthread_mutex_trylock(&lock))
		return;
	give_kept(kadapt_budget_excess());
	look_for_idle();
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
}

int kadapt_memory_count(struct kadapt_memory_totals *found)
{
	pthread_mutex_lock(&lock);
	*found = totals;
	found->peak_bytes = kadapt_budget.peak;
	pthread_mutex_unlock(&lock);
	return totals.blocks != 0;
}

/* The child would have the kept pages, too, and the kernel would copy them for nobody. */
static void before_fork(void)
{
	int saved_errno = errno;

	pthread_mutex_lock(&lock);
	give_kept(SIZE_MAX);
	errno = saved_errno;
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
	kadapt_zones_begin_child();
	totals = (struct kadapt_memory_totals){0};
	pthread_mutex_unlock(&lock);
}

/* Runs before the program's own constructors, which may already allocate. */
__attribute__((constructor(102))) static void begin_memory(void)
{
	int saved_errno = errno;

	if (&kadapt_plan && kadapt_plan.abi == KADAPT_PLAN_ABI &&
	    kadapt_plan.flags & KADAPT_PLAN_MEMORY &&
	    pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0)
		atomic_store(&kadapt_memory_least, kadapt_plan.fresh_least_bytes);
	errno = saved_errno;
}
