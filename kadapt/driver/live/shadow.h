/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shadow variables: what a unit keeps for an object of the kernel, such as a
 * file or a task. kadence/shadow.h is for a unit's author.
 */
#ifndef _KADAPT_SHADOW_H
#define _KADAPT_SHADOW_H

#include <linux/slab.h>
#include <linux/xarray.h>

/* Free all of a unit's shadow variables. Nobody is inside the unit. */
static inline void kadapt_shadows_free(struct xarray *shadows)
{
	unsigned long object;
	void *shadow;

	xa_for_each(shadows, object, shadow)
		kfree(shadow);
	xa_destroy(shadows);
}

#endif /* _KADAPT_SHADOW_H */
