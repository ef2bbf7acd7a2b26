/* SPDX-License-Identifier: GPL-2.0-only */
/* A lease on a file that a ring is bound to. */
#ifndef _KADAPT_LEASE_H
#define _KADAPT_LEASE_H

struct file;

/* The structure that contains it outlives the lease. */
struct kadapt_lease {
	struct file *file;		/* NULL: not taken */
	/* A task waits for the lease's return. Called under a spinlock. */
	void (*broken)(struct kadapt_lease *lease);
	/*
	 * Whether the holder itself breaks the lease. Called under a spinlock.
	 */
	bool (*owns)(const struct kadapt_lease *lease);
};

/* Fails if anybody else has the file open. Returns 0, -ENOLCK or -ENOMEM. */
int kadapt_lease_take(struct kadapt_lease *lease, struct file *file);
void kadapt_lease_return(struct kadapt_lease *lease);

#endif /* _KADAPT_LEASE_H */
