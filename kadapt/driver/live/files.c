// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/kadapt/units/NAME/ describes an installed unit. 0 written to the
 * file `installed` removes it. The folder of a unit that was built into the
 * kernel stays, and 1 installs the unit again.
 */
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

#include "choice/choice.h"
#include "live/slot.h"
#include "live/unit.h"
#include "phase/state.h"

static struct kobject *driver_folder, *units_folder;

static struct kadapt_slot *slot_of(const struct kobject *folder)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (kadapt_slots[i].folder == folder)
			return &kadapt_slots[i];
	return NULL;
}

static ssize_t installed_show(struct kobject *folder,
			      struct kobj_attribute *attribute, char *text)
{
	const struct kadapt_slot *slot;

	guard(mutex)(&kadapt_slots_lock);
	slot = slot_of(folder);
	if (!slot)
		return -ENODEV;
	return sysfs_emit(text, "%d\n", slot->stage == KADAPT_INSTALLED ||
			  slot->stage == KADAPT_REMOVING);
}

static ssize_t functions_show(struct kobject *folder,
			      struct kobj_attribute *attribute, char *text)
{
	const struct kadapt_replacement *each;
	struct kadapt_slot *slot;
	int length = 0;

	guard(mutex)(&kadapt_slots_lock);
	slot = slot_of(folder);
	if (!slot || !slot->unit)
		return -ENODEV;
	for (each = slot->unit->replacements; each < slot->unit->end; each++)
		length += sysfs_emit_at(text, length, "%s\n", each->name);
	return length;
}

/* The tasks that take the unit, as many as fit into a page. */
static ssize_t takers_show(struct kobject *folder,
			   struct kobj_attribute *attribute, char *text)
{
	struct kadapt_slot *slot;

	guard(mutex)(&kadapt_slots_lock);
	slot = slot_of(folder);
	if (!slot)
		return -ENODEV;
	return kadapt_states_list(BIT(kadapt_slot_number(slot)), text);
}

static bool is_built_in(const struct kadapt_slot *slot)
{
	return slot->unit && !slot->unit->code.module;
}

/* The unit's module may go. */
static void unit_forget(struct kadapt_slot *slot)
{
	const struct kadapt_unit *unit = slot->unit;
	struct kobject *folder = slot->folder;

	scoped_guard(mutex, &kadapt_slots_lock) {
		slot->stage = KADAPT_ABSENT;
		slot->unit = NULL;
		slot->folder = NULL;
	}
	/* Not under the lock, which readers of the folder's files take. */
	kobject_del(folder);
	kobject_put(folder);
	pr_info("unit %s removed\n", unit->name);
	module_put(unit->code.module);
}

static struct kobj_attribute installed_file;

static int remove_by_file(struct kobject *folder)
{
	struct kadapt_slot *slot = slot_of(folder);
	int error;

	if (!slot)
		return -ENODEV;
	if (is_built_in(slot) && slot->stage == KADAPT_ABSENT)
		return 0;
	error = kadapt_slot_remove(slot);
	if (error)
		return error;
	if (is_built_in(slot)) {
		pr_info("unit %s removed\n", slot->name);
		kadapt_slot_go_on(slot, KADAPT_GONE, KADAPT_ABSENT);
	} else if (sysfs_remove_file_self(folder, &installed_file.attr)) {
		unit_forget(slot);
	}
	return 0;
}

static int install_by_file(struct kobject *folder)
{
	const struct kadapt_slot *slot = slot_of(folder);

	if (!slot)
		return -ENODEV;
	if (slot->stage != KADAPT_ABSENT)
		return 0;
	return kadapt_unit_install(slot->unit);
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

static struct kobj_attribute installed_file = __ATTR_RW_MODE(installed, 0600);
static struct kobj_attribute functions_file = __ATTR_RO(functions);
static struct kobj_attribute takers_file = __ATTR_RO_MODE(takers, 0400);

static const struct attribute *const files[] = {
	&installed_file.attr,
	&functions_file.attr,
	&takers_file.attr,
	NULL,
};

void kadapt_folder_remove(struct kadapt_slot *slot)
{
	kobject_put(slot->folder);
	slot->folder = NULL;
}

int kadapt_folder_create(struct kadapt_slot *slot)
{
	int error;

	slot->folder = kobject_create_and_add(slot->name, units_folder);
	if (!slot->folder)
		return -ENOMEM;
	error = sysfs_create_files(slot->folder, files);
	if (error)
		kadapt_folder_remove(slot);
	return error;
}

int kadapt_folders_init(void)
{
	driver_folder = kobject_create_and_add("kadapt", kernel_kobj);
	units_folder = kobject_create_and_add("units", driver_folder);
	if (units_folder)
		return 0;
	kobject_put(driver_folder);
	return -ENOMEM;
}

void kadapt_folders_exit(void)
{
	kobject_put(units_folder);
	kobject_put(driver_folder);
}
