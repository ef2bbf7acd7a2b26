// SPDX-License-Identifier: MIT
#include "arena/budget.h"
#include "kadapt.h"
#include "pages/group.h"
#include "pages/machine.h"

/* How much may be present and untouched: AHEAD_BYTES, and 1 / AHEAD_PART of the bytes in use. */
#define AHEAD_BYTES ((size_t)16 << 20)
#define AHEAD_PART 32

/* On User-Mode Linux nothing is kept while less than 1 / FREE_PART of memory is available. */
#define FREE_PART 8

struct kadapt_budget kadapt_budget;
_Atomic size_t kadapt_kept;

static size_t most_kept;
/* The peaks of the process and of the arena when growth was last noted; the arena's peak now. */
static size_t noted_resident, noted_arena, arena_peak;

static size_t arena_bytes(void)
{
	return kadapt_budget.in_use + kadapt_kept;
}

void kadapt_budget_begin(size_t keep_bytes)
{
	most_kept = keep_bytes;
	noted_resident = kadapt_machine_peak_resident();
}

void kadapt_budget_use(size_t bytes)
{
	kadapt_budget.in_use += bytes;
	if (kadapt_budget.in_use > kadapt_budget.peak)
		kadapt_budget.peak = kadapt_budget.in_use;
	if (arena_bytes() > arena_peak)
		arena_peak = arena_bytes();
}

void kadapt_budget_unuse(size_t bytes)
{
	kadapt_budget.in_use -= bytes;
}

static size_t permitted(void)
{
	size_t room = kadapt_budget.peak - kadapt_budget.in_use + kadapt_budget.peak / 20 +
		      KADAPT_BUDGET_SLACK;

	return room < most_kept ? room : most_kept;
}

/* Returns whether the process has grown more than the arena explains. */
static int have_others_grown(void)
{
	size_t resident = kadapt_machine_peak_resident();
	size_t growth = resident - noted_resident;
	size_t arenas = arena_peak - noted_arena;

	if (growth <= KADAPT_BUDGET_SLACK)
		return 0;
	noted_resident = resident;
	noted_arena = arena_peak;
	return growth > arenas + KADAPT_BUDGET_SLACK;
}

/*
 * On other kernels the kernel itself takes idle pages when memory is short. On
 * User-Mode Linux idle pages would cost a page fault each, so there the arena checks.
 */
static int is_memory_short(void)
{
	return kadapt_device_query()->features & KADAPT_FEATURE_MEMORY &&
	       !kadapt_machine_has_available(kadapt_machine_bytes() / FREE_PART);
}

size_t kadapt_budget_excess(void)
{
	size_t kept = kadapt_kept;

	if (!kept)
		return 0;
	if (have_others_grown() || is_memory_short())
		return kept;
	return kept > permitted() ? kept - permitted() : 0;
}

int kadapt_budget_allows(size_t bytes)
{
	return kadapt_kept + bytes <= permitted();
}

int kadapt_budget_could_keep(size_t bytes)
{
	return bytes <= most_kept;
}

int kadapt_budget_allows_fresh(size_t bytes)
{
	return kadapt_budget.fresh + bytes <=
	       kadapt_budget.peak + kadapt_budget.peak / 20 + KADAPT_BUDGET_SLACK;
}

int kadapt_budget_allows_ahead(size_t bytes)
{
	return kadapt_budget.ahead + bytes <= AHEAD_BYTES + kadapt_budget.in_use / AHEAD_PART &&
	       kadapt_group_has_room(bytes);
}
