// SPDX-License-Identifier: GPL-2.0-only
/*
 * The installed units.
 *
 * A number belongs to a name as long as the unit is installed or a phase of any
 * process asked for the unit. So a phase that asked for a unit never takes a
 * different one.
 */
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "choice/choice.h"
#include "live/dispatch.h"
#include "live/places.h"
#include "live/removal.h"
#include "live/shadow.h"
#include "live/slot.h"
#include "live/unit.h"
#include "live/units.h"
#include "phase/state.h"
#include "uapi/kadapt.h"

struct kadapt_slot kadapt_slots[KADAPT_UNITS];
/* Protects the slots. */
DEFINE_MUTEX(kadapt_slots_lock);

static bool is_free(const struct kadapt_slot *slot)
{
	return slot->stage == KADAPT_ABSENT && !slot->unit &&
	       !kadapt_choice_is_held(kadapt_slot_number(slot));
}

static struct kadapt_slot *find_slot(const char *name)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (!is_free(&kadapt_slots[i]) &&
		    !strcmp(kadapt_slots[i].name, name))
			return &kadapt_slots[i];
	return NULL;
}

static struct kadapt_slot *free_slot(void)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (is_free(&kadapt_slots[i]))
			return &kadapt_slots[i];
	return NULL;
}

/* ---- phases that take units ----------------------------------------------- */

void kadapt_units_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_UNITS;
}

int kadapt_units_hold(const char *name)
{
	struct kadapt_slot *slot;

	guard(mutex)(&kadapt_slots_lock);
	slot = find_slot(name);
	if (!slot || slot->stage != KADAPT_INSTALLED)
		return -ENODEV;
	kadapt_choice_hold(kadapt_slot_number(slot));
	return kadapt_slot_number(slot);
}

/* ---- removal -------------------------------------------------------------- */

static void tell_keeper(const struct kadapt_slot *slot,
			const struct kadapt_keeper *keeper)
{
	pr_warn("unit %s stays, because task %d (%s) is inside\n", slot->name,
		keeper->pid, keeper->name);
}

/* Until no task takes the unit. Returns 0, or -EBUSY and a task that does. */
static int drop_from_tasks(const struct kadapt_slot *slot,
			   struct kadapt_keeper *keeper)
{
	u32 mask = BIT(kadapt_slot_number(slot));
	unsigned long last = jiffies + KADAPT_REMOVAL_LONGEST;

	while (kadapt_states_drop(mask, &slot->unit->code, keeper)) {
		if (time_after(jiffies, last))
			return -EBUSY;
		usleep_range(KADAPT_REMOVAL_PAUSE_US,
			     2 * KADAPT_REMOVAL_PAUSE_US);
	}
	return 0;
}

static void set_installed(const struct kadapt_slot *slot, bool installed)
{
	u32 mask = BIT(kadapt_slot_number(slot));

	guard(mutex)(&kadapt_slots_lock);
	WRITE_ONCE(kadapt_units_installed,
		   installed ? kadapt_units_installed | mask :
			       kadapt_units_installed & ~mask);
}

/* No task takes the unit when this returns 0; otherwise tasks still may. */
static int stop_taking(const struct kadapt_slot *slot,
		       struct kadapt_keeper *keeper)
{
	int error;

	set_installed(slot, false);
	/* No task sets the unit's bit after this: see kadapt_choice_set(). */
	synchronize_rcu();
	error = drop_from_tasks(slot, keeper);
	if (error)
		set_installed(slot, true);
	return error;
}

bool kadapt_slot_go_on(struct kadapt_slot *slot, enum kadapt_stage from,
		       enum kadapt_stage to)
{
	guard(mutex)(&kadapt_slots_lock);
	if (slot->stage != from)
		return false;
	slot->stage = to;
	return true;
}

static int end_dispatch(struct kadapt_slot *slot, struct kadapt_keeper *keeper)
{
	int error = stop_taking(slot, keeper);

	if (!error)
		kadapt_dispatch_end(kadapt_slot_number(slot), slot->unit);
	kadapt_slot_go_on(slot, KADAPT_REMOVING,
			  error ? KADAPT_INSTALLED : KADAPT_LEAVING);
	return error;
}

/*
 * When dispatch has ended, the functions are the originals for everybody. A task
 * can still be inside only if it changed its phase there. If it does not leave
 * in time, the next attempt waits for it again.
 */
int kadapt_slot_remove(struct kadapt_slot *slot)
{
	struct kadapt_keeper keeper;
	int error = 0;

	if (kadapt_slot_go_on(slot, KADAPT_INSTALLED, KADAPT_REMOVING))
		error = end_dispatch(slot, &keeper);
	else if (slot->stage != KADAPT_LEAVING)
		return -EBUSY;
	if (!error)
		error = kadapt_removal_wait(&slot->unit->code, &keeper);
	if (error) {
		tell_keeper(slot, &keeper);
		return error;
	}
	/* Of two removals that waited, one goes on. */
	if (!kadapt_slot_go_on(slot, KADAPT_LEAVING, KADAPT_GONE))
		return -EBUSY;
	kadapt_shadows_free(slot->unit->shadows);
	return 0;
}

/* ---- installation --------------------------------------------------------- */

static int unit_begin(struct kadapt_slot *slot, const struct kadapt_unit *unit)
{
	int error = 0;

	strscpy(slot->name, unit->name, sizeof(slot->name));
	if (!slot->folder)
		error = kadapt_folder_create(slot);
	if (error)
		return error;
	error = kadapt_dispatch_begin(kadapt_slot_number(slot), unit);
	if (error) {
		if (!slot->unit)
			kadapt_folder_remove(slot);
		return error;
	}
	__module_get(unit->code.module);
	slot->unit = unit;
	slot->stage = KADAPT_INSTALLED;
	WRITE_ONCE(kadapt_units_installed,
		   kadapt_units_installed | BIT(kadapt_slot_number(slot)));
	pr_info("unit %s installed\n", unit->name);
	return 0;
}

int kadapt_unit_install(const struct kadapt_unit *unit)
{
	struct kadapt_slot *slot;

	if (strlen(unit->name) >= KADAPT_UNIT_NAME)
		return -EINVAL;
	guard(mutex)(&kadapt_slots_lock);
	slot = find_slot(unit->name);
	if (slot && slot->stage != KADAPT_ABSENT)
		return -EEXIST;
	if (!slot)
		slot = free_slot();
	return slot ? unit_begin(slot, unit) : -ENOSPC;
}
EXPORT_SYMBOL_GPL(kadapt_unit_install);

int kadapt_units_init(void)
{
	return kadapt_folders_init();
}

/* Installed units hold this module, so there are none. */
void kadapt_units_exit(void)
{
	kadapt_places_exit();
	kadapt_folders_exit();
}
