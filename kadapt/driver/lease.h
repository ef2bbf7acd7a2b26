/* SPDX-License-Identifier: GPL-2.0-only */
/* A lease on a file that a ring is bound to. */
#ifndef _KADAPT_LEASE_H
#define _KADAPT_LEASE_H

struct file;

/* What contains it outlives the lease. */
struct kadapt_lease {
	struct file *file;		/* NULL: not taken */
	/* Somebody waits for its return; called under a spinlock. */
	void (*broken)(struct kadapt_lease *lease);
	/* Is it the holder itself who asks? Likewise. */
	bool (*owns)(const struct kadapt_lease *lease);
};

/* Nobody else has the file open. 0, -ENOLCK or -ENOMEM. */
int kadapt_lease_take(struct kadapt_lease *lease, struct file *file);
void kadapt_lease_return(struct kadapt_lease *lease);

#endif /* _KADAPT_LEASE_H */
