/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots: one for each number of a unit. units.c installs and removes units;
 * files.c shows them in /sys/kernel/kadapt/units/NAME/.
 */
#ifndef _KADAPT_SLOT_H
#define _KADAPT_SLOT_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "choice/choice.h"
#include "uapi/kadapt.h"

struct kadapt_unit;
struct kobject;

enum kadapt_stage {
	KADAPT_ABSENT,
	KADAPT_INSTALLED,
	KADAPT_REMOVING,	/* tasks may be taking the unit */
	KADAPT_LEAVING,		/* nobody takes it, but tasks may be inside */
	KADAPT_GONE,		/* no task is inside */
};

struct kadapt_slot {
	char name[KADAPT_UNIT_NAME];
	enum kadapt_stage stage;
	const struct kadapt_unit *unit;	/* a built-in one stays here */
	struct kobject *folder;
};

extern struct kadapt_slot kadapt_slots[KADAPT_UNITS];
/* Protects the slots. Nobody waits for tasks under it. */
extern struct mutex kadapt_slots_lock;

static inline unsigned int kadapt_slot_number(const struct kadapt_slot *slot)
{
	return slot - kadapt_slots;
}

/* Returns false if the slot is not in the stage `from`. */
bool kadapt_slot_go_on(struct kadapt_slot *slot, enum kadapt_stage from,
		       enum kadapt_stage to);
/*
 * Remove the slot's unit. Returns 0, with the slot in the stage GONE, or
 * -EBUSY: somebody else removes the unit, or a task stays inside.
 */
int kadapt_slot_remove(struct kadapt_slot *slot);

/* The folder of a unit. Returns 0 or a negative error. */
int kadapt_folder_create(struct kadapt_slot *slot);
void kadapt_folder_remove(struct kadapt_slot *slot);
int kadapt_folders_init(void);
void kadapt_folders_exit(void);

#endif /* _KADAPT_SLOT_H */
