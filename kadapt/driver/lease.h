/* SPDX-License-Identifier: GPL-2.0-only */
/* A lease on a file that a ring or a window is bound to. */
#ifndef _KADAPT_LEASE_H
#define _KADAPT_LEASE_H

struct file;

/* What contains it outlives the lease. */
struct kadapt_lease {
	struct file *file;		/* NULL: not taken */
	/* Somebody waits for its return; called under a spinlock. */
	void (*broken)(struct kadapt_lease *lease);
	/* Is it the holder itself who asks? NULL: never; likewise. */
	bool (*owns)(const struct kadapt_lease *lease);
};

/* Nobody else has the file open. 0, -ENOLCK or -ENOMEM. */
int kadapt_lease_take_exclusive(struct kadapt_lease *lease, struct file *file);
/* Nobody has the file open for writing. */
int kadapt_lease_take_shared(struct kadapt_lease *lease, struct file *file);
void kadapt_lease_return(struct kadapt_lease *lease);

#endif /* _KADAPT_LEASE_H */
