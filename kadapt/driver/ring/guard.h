/* SPDX-License-Identifier: GPL-2.0-only */
/* The guards of bound files. */
#ifndef _KADAPT_GUARD_H
#define _KADAPT_GUARD_H

struct kadapt_ring;

/*
 * From here on, whoever touches ring->file unbinds the ring first. Returns 0 or
 * -ENOMEM. kadapt_bound_remove() ends it.
 */
int kadapt_guard(struct kadapt_ring *ring);

/* Free the guards. No file is guarded any more. */
void kadapt_guards_exit(void);

#endif /* _KADAPT_GUARD_H */
