/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the author of a unit: shadow variables, which a unit keeps for objects of
 * the kernel. A shadow is made when it is first asked for. All go when the unit
 * is removed.
 *
 *	struct written { u64 bytes; };
 *	struct written *written = kadence_shadow_of(file, sizeof(*written));
 *
 * The unit must replace the function that ends such an object, and drop its
 * shadow there. Otherwise the next object at that address has the shadow.
 */
#ifndef _KADENCE_SHADOW_H
#define _KADENCE_SHADOW_H

#include <kadence/unit.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/* Objects of the kernel begin at words. */
static inline unsigned long kadence_shadow_index(const void *object)
{
	return (unsigned long)object / sizeof(long);
}

/*
 * The object's shadow, zeroed when it is made; NULL if there is no memory for
 * it. All calls of a unit for the same object name the same size. It does not
 * sleep, and may be called in interrupts.
 */
static inline void *kadence_shadow_of(const void *object, size_t size)
{
	unsigned long index = kadence_shadow_index(object), flags;
	void *shadow = xa_load(&kadence_shadows, index), *fresh;

	if (shadow)
		return shadow;
	fresh = kzalloc(size, GFP_ATOMIC);
	if (!fresh)
		return NULL;
	xa_lock_irqsave(&kadence_shadows, flags);
	shadow = __xa_cmpxchg(&kadence_shadows, index, NULL, fresh, GFP_ATOMIC);
	xa_unlock_irqrestore(&kadence_shadows, flags);
	if (!shadow)
		return fresh;
	kfree(fresh);
	return xa_is_err(shadow) ? NULL : shadow;
}

/* Free the shadow of an object that ends. Nobody else uses either any more. */
static inline void kadence_shadow_drop(const void *object)
{
	unsigned long flags;
	void *shadow;

	xa_lock_irqsave(&kadence_shadows, flags);
	shadow = __xa_erase(&kadence_shadows, kadence_shadow_index(object));
	xa_unlock_irqrestore(&kadence_shadows, flags);
	kfree(shadow);
}

#endif /* _KADENCE_SHADOW_H */
