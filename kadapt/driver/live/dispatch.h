/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces functions of the running kernel for tasks that take a unit. */
#ifndef _KADAPT_DISPATCH_H
#define _KADAPT_DISPATCH_H

struct kadapt_unit;

/*
 * Calls of the unit's functions test the bit of this number from now on.
 * Returns 0, or a negative error and nothing has changed.
 */
int kadapt_dispatch_begin(unsigned int number, const struct kadapt_unit *unit);
/* Calls no longer do, and none is between the test and the variant. */
void kadapt_dispatch_end(unsigned int number, const struct kadapt_unit *unit);

#endif /* _KADAPT_DISPATCH_H */
