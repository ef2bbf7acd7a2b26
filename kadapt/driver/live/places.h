/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places: the instructions at the beginning of the kernel's functions that a
 * unit turns into calls of its stub. traced.c uses the places of the function
 * tracer. planted.c uses those that the kernel's build left for units.
 */
#ifndef _KADAPT_PLACES_H
#define _KADAPT_PLACES_H

struct kadapt_unit;

/*
 * Turn the places of the unit's functions into calls of the stub. Returns 0, or
 * a negative error and no place has changed:
 *
 *	EINVAL	a function has no place
 *	EBUSY	somebody else uses the place
 */
int kadapt_places_call(unsigned int number, const struct kadapt_unit *unit,
		       unsigned long stub);
/* Turn them back. Tasks may still be in the stub when this returns. */
void kadapt_places_restore(unsigned int number, const struct kadapt_unit *unit,
			   unsigned long stub);

/* Free what is kept of places that were used. */
void kadapt_places_exit(void);

#endif /* _KADAPT_PLACES_H */
