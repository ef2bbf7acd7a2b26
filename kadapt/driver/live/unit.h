/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units: groups of functions of the running kernel with new versions. A unit is
 * a module, or a part of a kernel that was built with the unit;
 * kadence/unit.h is for its author.
 *
 * A task takes a unit's variants in the phases for which it asked for the unit
 * (KADAPT_TAKE). All other tasks take the originals. A task changes between the
 * two at its own phase calls, with one store for all functions of the unit. So
 * no call in progress ever sees both, except the phase call itself.
 */
#ifndef _KADAPT_UNIT_H
#define _KADAPT_UNIT_H

#include <linux/types.h>

#include "choice/stack.h"

struct xarray;

/* A function and its variant. */
struct kadapt_replacement {
	const char *name;
	unsigned long address;
	/* Behind the function's instruction for the tracer. */
	unsigned long original;
	unsigned long variant;
};

struct kadapt_unit {
	const char *name;
	struct kadapt_code code;
	const struct kadapt_replacement *replacements;
	const struct kadapt_replacement *end;
	struct xarray *shadows;
};

/*
 * Install a unit; tasks may take it when this returns 0. The module stays until
 * 0 is written to /sys/kernel/kadapt/units/NAME/installed, which removes the
 * unit. 1 installs a unit of the kernel itself again.
 *
 *	EINVAL	a name is too long, a function can't be replaced
 *	EEXIST	a unit with this name is installed
 *	EBUSY	another unit or a live patch replaces the function
 *	ENOSPC	all numbers of units are in use
 */
int kadapt_unit_install(const struct kadapt_unit *unit);

/* The unit's module goes only after the unit was removed. */
static inline void kadapt_unit_unload(const struct kadapt_unit *unit)
{
}

#endif /* _KADAPT_UNIT_H */
