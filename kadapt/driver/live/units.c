// SPDX-License-Identifier: GPL-2.0-only
/*
 * The installed units. /sys/kernel/kadapt/units/NAME/ describes each one, and
 * 0 written to the file `installed` removes it. The folder of a unit that was
 * built into the kernel stays, and 1 installs the unit again.
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
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "choice/choice.h"
#include "live/dispatch.h"
#include "live/places.h"
#include "live/removal.h"
#include "live/unit.h"
#include "live/units.h"
#include "phase/state.h"
#include "uapi/kadapt.h"

enum stage {
	ABSENT,
	INSTALLED,
	REMOVING,	/* tasks may be taking it */
	LEAVING,	/* nobody takes it, but tasks may be inside */
};

struct place {
	char name[KADAPT_UNIT_NAME];
	enum stage stage;
	const struct kadapt_unit *unit;	/* a built-in one stays here */
	struct kobject *folder;
};

static struct place places[KADAPT_UNITS];
/* Nobody waits for tasks under it. */
static DEFINE_MUTEX(places_lock);
static struct kobject *driver_folder, *units_folder;

static unsigned int number_of(const struct place *place)
{
	return place - places;
}

static bool is_free(const struct place *place)
{
	return place->stage == ABSENT && !place->unit &&
	       !kadapt_choice_is_held(number_of(place));
}

static struct place *find_place(const char *name)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (!is_free(&places[i]) && !strcmp(places[i].name, name))
			return &places[i];
	return NULL;
}

static struct place *free_place(void)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (is_free(&places[i]))
			return &places[i];
	return NULL;
}

/* ---- phases that take units ----------------------------------------------- */

void kadapt_units_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_UNITS;
}

int kadapt_units_hold(const char *name)
{
	struct place *place;

	guard(mutex)(&places_lock);
	place = find_place(name);
	if (!place || place->stage != INSTALLED)
		return -ENODEV;
	kadapt_choice_hold(number_of(place));
	return number_of(place);
}

/* ---- removal -------------------------------------------------------------- */

static void tell_keeper(const struct place *place,
			const struct kadapt_keeper *keeper)
{
	pr_warn("unit %s stays, because task %d (%s) is inside\n", place->name,
		keeper->pid, keeper->name);
}

/* Until no task takes the unit. Returns 0, or -EBUSY and a task that does. */
static int drop_from_tasks(const struct place *place,
			   struct kadapt_keeper *keeper)
{
	u32 mask = BIT(number_of(place));
	unsigned long last = jiffies + KADAPT_REMOVAL_LONGEST;

	while (kadapt_states_drop(mask, &place->unit->code, keeper)) {
		if (time_after(jiffies, last))
			return -EBUSY;
		usleep_range(KADAPT_REMOVAL_PAUSE_US,
			     2 * KADAPT_REMOVAL_PAUSE_US);
	}
	return 0;
}

static void set_installed(const struct place *place, bool installed)
{
	u32 mask = BIT(number_of(place));

	guard(mutex)(&places_lock);
	WRITE_ONCE(kadapt_units_installed,
		   installed ? kadapt_units_installed | mask :
			       kadapt_units_installed & ~mask);
}

/* No task takes the unit when this returns 0; otherwise tasks still may. */
static int stop_taking(const struct place *place, struct kadapt_keeper *keeper)
{
	int error;

	set_installed(place, false);
	/* No task sets the unit's bit after this: see kadapt_choice_set(). */
	synchronize_rcu();
	error = drop_from_tasks(place, keeper);
	if (error)
		set_installed(place, true);
	return error;
}

/* Returns false if the unit is not in this stage. */
static bool go_on(struct place *place, enum stage from, enum stage to)
{
	guard(mutex)(&places_lock);
	if (place->stage != from)
		return false;
	place->stage = to;
	return true;
}

static int end_dispatch(struct place *place, struct kadapt_keeper *keeper)
{
	int error = stop_taking(place, keeper);

	if (!error)
		kadapt_dispatch_end(number_of(place), place->unit);
	go_on(place, REMOVING, error ? INSTALLED : LEAVING);
	return error;
}

/*
 * When dispatch has ended, the functions are the originals for everybody. A task
 * can still be inside only if it changed its phase there. If it does not leave
 * in time, the next attempt waits for it again.
 */
static int unit_remove(struct place *place)
{
	struct kadapt_keeper keeper;
	int error = 0;

	if (go_on(place, INSTALLED, REMOVING))
		error = end_dispatch(place, &keeper);
	else if (place->stage != LEAVING)
		return -EBUSY;
	if (!error)
		error = kadapt_removal_wait(&place->unit->code, &keeper);
	if (error)
		tell_keeper(place, &keeper);
	return error;
}

/* ---- files ---------------------------------------------------------------- */

static struct place *place_of(const struct kobject *folder)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (places[i].folder == folder)
			return &places[i];
	return NULL;
}

static ssize_t installed_show(struct kobject *folder,
			      struct kobj_attribute *attribute, char *text)
{
	const struct place *place;

	guard(mutex)(&places_lock);
	place = place_of(folder);
	if (!place)
		return -ENODEV;
	return sysfs_emit(text, "%d\n", place->stage == INSTALLED ||
			  place->stage == REMOVING);
}

static ssize_t functions_show(struct kobject *folder,
			      struct kobj_attribute *attribute, char *text)
{
	const struct kadapt_replacement *each;
	struct place *place;
	int length = 0;

	guard(mutex)(&places_lock);
	place = place_of(folder);
	if (!place || !place->unit)
		return -ENODEV;
	for (each = place->unit->replacements; each < place->unit->end; each++)
		length += sysfs_emit_at(text, length, "%s\n", each->name);
	return length;
}

static ssize_t installed_store(struct kobject *folder,
			       struct kobj_attribute *attribute,
			       const char *text, size_t length);

static struct kobj_attribute installed_file = __ATTR_RW_MODE(installed, 0600);
static struct kobj_attribute functions_file = __ATTR_RO(functions);

static const struct attribute *const files[] = {
	&installed_file.attr,
	&functions_file.attr,
	NULL,
};

static bool is_built_in(const struct place *place)
{
	return place->unit && !place->unit->code.module;
}

/* The unit's module may go. */
static void unit_forget(struct place *place)
{
	const struct kadapt_unit *unit = place->unit;
	struct kobject *folder = place->folder;

	scoped_guard(mutex, &places_lock) {
		place->stage = ABSENT;
		place->unit = NULL;
		place->folder = NULL;
	}
	/* Not under the lock, which readers of the folder's files take. */
	kobject_del(folder);
	kobject_put(folder);
	pr_info("unit %s removed\n", unit->name);
	module_put(unit->code.module);
}

static int remove_by_file(struct kobject *folder)
{
	struct place *place = place_of(folder);
	int error;

	if (!place)
		return -ENODEV;
	if (is_built_in(place) && place->stage == ABSENT)
		return 0;
	error = unit_remove(place);
	if (error)
		return error;
	if (is_built_in(place)) {
		if (go_on(place, LEAVING, ABSENT))
			pr_info("unit %s removed\n", place->name);
		return 0;
	}
	/* Of two writers, one removes the file, and with it the folder. */
	if (sysfs_remove_file_self(folder, &installed_file.attr))
		unit_forget(place);
	return 0;
}

static int install_by_file(struct kobject *folder)
{
	const struct place *place = place_of(folder);

	if (!place)
		return -ENODEV;
	if (place->stage != ABSENT)
		return 0;
	return kadapt_unit_install(place->unit);
}

static ssize_t installed_store(struct kobject *folder,
			       struct kobj_attribute *attribute,
			       const char *text, size_t length)
{
	bool wanted;
	int error = kstrtobool(text, &wanted);

	if (!error)
		error = wanted ? install_by_file(folder) :
				 remove_by_file(folder);
	return error ?: length;
}

static void folder_remove(struct place *place)
{
	kobject_put(place->folder);
	place->folder = NULL;
}

static int folder_create(struct place *place)
{
	int error;

	place->folder = kobject_create_and_add(place->name, units_folder);
	if (!place->folder)
		return -ENOMEM;
	error = sysfs_create_files(place->folder, files);
	if (error)
		folder_remove(place);
	return error;
}

/* ---- installation --------------------------------------------------------- */

static int unit_begin(struct place *place, const struct kadapt_unit *unit)
{
	int error = 0;

	strscpy(place->name, unit->name, sizeof(place->name));
	if (!place->folder)
		error = folder_create(place);
	if (error)
		return error;
	error = kadapt_dispatch_begin(number_of(place), unit);
	if (error) {
		if (!place->unit)
			folder_remove(place);
		return error;
	}
	__module_get(unit->code.module);
	place->unit = unit;
	place->stage = INSTALLED;
	WRITE_ONCE(kadapt_units_installed,
		   kadapt_units_installed | BIT(number_of(place)));
	pr_info("unit %s installed\n", unit->name);
	return 0;
}

int kadapt_unit_install(const struct kadapt_unit *unit)
{
	struct place *place;

	if (strlen(unit->name) >= KADAPT_UNIT_NAME)
		return -EINVAL;
	guard(mutex)(&places_lock);
	place = find_place(unit->name);
	if (place && place->stage != ABSENT)
		return -EEXIST;
	if (!place)
		place = free_place();
	return place ? unit_begin(place, unit) : -ENOSPC;
}
EXPORT_SYMBOL_GPL(kadapt_unit_install);

int kadapt_units_init(void)
{
	driver_folder = kobject_create_and_add("kadapt", kernel_kobj);
	units_folder = kobject_create_and_add("units", driver_folder);
	if (units_folder)
		return 0;
	kobject_put(driver_folder);
	return -ENOMEM;
}

/* Installed units hold this module, so there are none. */
void kadapt_units_exit(void)
{
	kadapt_places_exit();
	kobject_put(units_folder);
	kobject_put(driver_folder);
}
