// SPDX-License-Identifier: MIT
#include "arena/addresses.h"
#include "arena/home.h"
#include "arena/huge.h"
#include "arena/zones.h"
#include "base/levels.h"
#include "base/optional.h"
#include "pages/pages.h"

/* Frames of a zone that are managed. Each may need two more of the 65,530 mappings. */
#define ZONE_FRAMES 2048
/* Attempts to move a frame that is not all present. */
#define ATTEMPTS 3

/* A number below ATTEMPTS counts failed attempts. */
enum { IS_GIVEN_UP = ATTEMPTS, IS_SPLIT, IS_HUGE };

static uint8_t frames[KADAPT_ZONES][ZONE_FRAMES];
static uint64_t moved;

uint64_t kadapt_memory_moved(void)
{
	return moved;
}

/*
 * Where the kernel gives huge pages without being asked, or where they are known to pay,
 * the planned level has them.
 */
int kadapt_memory_has_huge_level(void)
{
	return kadapt_home_is() && kadapt_pages_are_asked_for() && !kadapt_home_has_huge();
}

static void move(uint8_t *state, char *start)
{
	if (*state == IS_HUGE || *state == IS_GIVEN_UP)
		return;
	if (kadapt_pages_are_present(start, KADAPT_HUGE_BYTES) && kadapt_pages_collapse(start)) {
		*state = IS_HUGE;
		moved++;
		return;
	}
	*state = *state < ATTEMPTS ? *state + 1 : IS_GIVEN_UP;
}

static void forget(uint8_t *state, char *start)
{
	(void)start;
	*state = 0;
}

static void split(uint8_t *state, char *start)
{
	if (*state != IS_HUGE)
		return;
	kadapt_pages_split(start);
	*state = IS_SPLIT;
}

/* Does it with each frame that has one of these bytes. Zones begin with a frame. */
static void each_frame(const char *start, size_t bytes, void (*act)(uint8_t *, char *))
{
	size_t zone_bytes = kadapt_arena_bytes / KADAPT_ZONES;
	size_t offset = ((uintptr_t)start - kadapt_arena_start) % zone_bytes;
	size_t zone = ((uintptr_t)start - kadapt_arena_start) / zone_bytes;
	size_t last = (offset + bytes - 1) / KADAPT_HUGE_BYTES;

	for (size_t i = offset / KADAPT_HUGE_BYTES; i <= last && i < ZONE_FRAMES; i++)
		act(&frames[zone][i], kadapt_zones[zone].start + i * KADAPT_HUGE_BYTES);
}

/* A frame that begins before the block holds the end of the block before it, too. */
void kadapt_huge_take(const char *start, size_t dirty)
{
	if (kadapt_level(KADAPT_TRIED_MEMORY) == KADAPT_LEVEL_HUGE && dirty >= KADAPT_HUGE_BYTES)
		each_frame(start, dirty, move);
}

void kadapt_huge_split(void)
{
	for (int zone = 0; moved && zone < KADAPT_ZONES; zone++)
		each_frame(kadapt_zones[zone].start, ZONE_FRAMES * KADAPT_HUGE_BYTES, split);
}

void kadapt_huge_forget(const char *start, size_t bytes)
{
	each_frame(start, bytes, forget);
}
