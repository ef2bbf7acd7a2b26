// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces functions: calls of all functions of a unit go through the unit's
 * stub, which finds the variant in the unit's table.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "choice/choice.h"
#include "live/dispatch.h"
#include "base/stubs.h"
#include "live/places.h"
#include "live/table.h"
#include "live/unit.h"

/* Multipliers to try; of a group of 50 functions, every third one succeeds. */
#define MOST_TRIES 10000

struct kadapt_table kadapt_tables[KADAPT_UNITS];

static unsigned long stub_of(unsigned int number)
{
	return (unsigned long)kadapt_stubs + number * KADAPT_STUB_BYTES;
}

static unsigned long *slot_for(const struct kadapt_table *table,
			       unsigned long original)
{
	u32 slot = (u32)original * table->multiplier >> KADAPT_TABLE_SHIFT;

	return &table->slot[slot];
}

static bool table_fill(struct kadapt_table *table,
		       const struct kadapt_unit *unit)
{
	const struct kadapt_replacement *each;

	memset(table->slot, 0, KADAPT_TABLE_SLOTS * sizeof(*table->slot));
	for (each = unit->replacements; each < unit->end; each++) {
		unsigned long *slot = slot_for(table, each->original);

		if (*slot)
			return false;
		*slot = each->variant;
	}
	return true;
}

static int table_create(struct kadapt_table *table,
			const struct kadapt_unit *unit)
{
	int tries;

	table->slot = kvmalloc_array(KADAPT_TABLE_SLOTS, sizeof(*table->slot),
				     GFP_KERNEL);
	if (!table->slot)
		return -ENOMEM;
	for (tries = 0; tries < MOST_TRIES; tries++) {
		table->multiplier = get_random_u32() | 1;
		if (table_fill(table, unit))
			return 0;
	}
	kvfree(table->slot);
	return -E2BIG;
}

int kadapt_dispatch_begin(unsigned int number, const struct kadapt_unit *unit)
{
	struct kadapt_table *table = &kadapt_tables[number];
	int error = table_create(table, unit);

	if (error)
		return error;
	error = kadapt_places_call(number, unit, stub_of(number));
	if (error)
		kvfree(table->slot);
	return error;
}

void kadapt_dispatch_end(unsigned int number, const struct kadapt_unit *unit)
{
	kadapt_places_restore(number, unit, stub_of(number));
	kadapt_wait_for_stubs();
	kvfree(kadapt_tables[number].slot);
}
