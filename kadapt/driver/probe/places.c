// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first instructions of functions, turned into calls of stubs.
 *
 * Few functions get a stub each. With the function tracer, each needs a pass
 * over all of the kernel's functions. More functions share a stub
 * for each kind, which finds the record in a table by the function's address.
 * The table covers the kernel's own code: a function of a module needs a stub of
 * its own.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base/stubs.h"
#include "probe/layout.h"
#include "probe/places.h"
#include "probe/session.h"
#include "probe/stubs.h"

/* Functions begin at multiples of 16 bytes: see stubs.S. */
#define TABLE_SHIFT	4
#define IN_TABLE(address)	((u32)(address) >> TABLE_SHIFT)

/* One for each function, or for each kind. */
static struct kadapt_probe_calls registrations[OWN_STUBS];
static unsigned long stubs[OWN_STUBS];
static unsigned int registered;
/* Counters beside timers are corrected. */
static bool has_timers;

/* Offsets of records; stubs add the address to the table's biased one. */
u32 *kadapt_probe_table;
static u32 *table;

unsigned long kadapt_probe_stub(unsigned int number, u32 kind)
{
	if (kind == KADAPT_PROBE_COUNT)
		return (unsigned long)kadapt_probe_counters +
		       number * COUNTER_BYTES;
	if (kind == KIND_CORRECTED)
		return (unsigned long)kadapt_probe_corrected_counters +
		       number * CORRECTED_BYTES;
	if (kind >= KIND_TIME_EVENTS)
		return (unsigned long)kadapt_probe_event_timers +
		       ((kind - KIND_TIME_EVENTS) * OWN_STUBS + number) *
			       EVENT_TIMER_BYTES;
	return (unsigned long)kadapt_probe_timers +
	       ((kind - KADAPT_PROBE_TIME) * OWN_STUBS + number) * TIMER_BYTES;
}

static unsigned long shared_stub(u32 kind)
{
	if (kind == KADAPT_PROBE_COUNT || kind == KIND_CORRECTED)
		return kadapt_probe_stub(OWN_STUBS, kind);
	if (kind >= KIND_TIME_EVENTS)
		return (unsigned long)kadapt_probe_shared_event_timers +
		       (kind - KIND_TIME_EVENTS) * EVENT_TIMER_BYTES;
	return (unsigned long)kadapt_probe_shared_timers +
	       (kind - KADAPT_PROBE_TIME) * TIMER_BYTES;
}

u32 kadapt_probe_places_kind(u32 kind)
{
	if (kind == KADAPT_PROBE_COUNT)
		return has_timers ? KIND_CORRECTED : KADAPT_PROBE_COUNT;
	if (kind == KADAPT_PROBE_POINT)
		return kadapt_probe_events_wanted() ? KIND_POINT_EVENTS :
						      KADAPT_PROBE_POINT;
	if (kadapt_probe_events_wanted())
		return KIND_TIME_EVENTS + (kind - KADAPT_PROBE_TIME);
	return kind;
}

static void look_for_timers(const struct kadapt_probe_function *functions,
			    unsigned int count)
{
	unsigned int i;

	has_timers = false;
	for (i = 0; i < count; i++)
		if (functions[i].kind != KADAPT_PROBE_COUNT &&
		    functions[i].kind != KADAPT_PROBE_POINT)
			has_timers = true;
}

/* The last stub is the calibration's. */
bool kadapt_probe_places_shared(unsigned int count)
{
	return count >= OWN_STUBS;
}

static int call_stub(unsigned long *addresses, unsigned int count,
		     unsigned long stub)
{
	int error = kadapt_probe_register(&registrations[registered], addresses,
					  count, stub);

	if (!error)
		stubs[registered++] = stub;
	return error;
}

static int call_own(const struct kadapt_probe_function *functions,
		    unsigned int count)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < count && !error; i++) {
		unsigned long address = functions[i].address;
		u32 kind = kadapt_probe_places_kind(functions[i].kind);

		if (functions[i].kind == KADAPT_PROBE_POINT)
			continue;
		error = call_stub(&address, 1, kadapt_probe_stub(i, kind));
	}
	return error;
}

/* ---- shared stubs --------------------------------------------------------- */

static int table_create(const struct kadapt_probe_function *functions,
			unsigned int count)
{
	u32 least = U32_MAX, most = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (functions[i].kind == KADAPT_PROBE_POINT)
			continue;
		least = min(least, IN_TABLE(functions[i].address));
		most = max(most, IN_TABLE(functions[i].address));
	}
	if (least > most)
		return 0;
	if (most - least > KADAPT_PROBE_TABLE_MOST)
		return -ERANGE;
	table = vcalloc(most - least + 1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		if (functions[i].kind != KADAPT_PROBE_POINT)
			table[IN_TABLE(functions[i].address) - least] =
				i * sizeof(struct kadapt_probe_record);
	kadapt_probe_table = table - least;
	return 0;
}

static int call_shared_of(u32 kind, unsigned long *addresses,
			  const struct kadapt_probe_function *functions,
			  unsigned int count)
{
	unsigned int i, found = 0;

	for (i = 0; i < count; i++)
		if (functions[i].kind == kind)
			addresses[found++] = functions[i].address;
	if (!found)
		return 0;
	return call_stub(addresses, found, shared_stub(kadapt_probe_places_kind(kind)));
}

static int call_shared(const struct kadapt_probe_function *functions,
		       unsigned int count)
{
	unsigned long *addresses;
	int error;
	u32 kind;

	addresses = kvcalloc(count, sizeof(*addresses), GFP_KERNEL);
	if (!addresses)
		return -ENOMEM;
	error = table_create(functions, count);
	for (kind = 0; kind < KADAPT_PROBE_POINT && !error; kind++)
		error = call_shared_of(kind, addresses, functions, count);
	kvfree(addresses);
	return error;
}

int kadapt_probe_places_call(const struct kadapt_probe_function *functions,
			     unsigned int count)
{
	int error;

	look_for_timers(functions, count);
	error = kadapt_probe_places_shared(count) ?
			call_shared(functions, count) :
			call_own(functions, count);
	if (error)
		kadapt_probe_places_restore();
	return error;
}

void kadapt_probe_places_restore(void)
{
	while (registered) {
		registered--;
		kadapt_probe_unregister(&registrations[registered],
					stubs[registered]);
	}
	kadapt_wait_for_stubs();
	vfree(table);
	table = NULL;
}
