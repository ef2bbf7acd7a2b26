/* SPDX-License-Identifier: GPL-2.0-only */
/* The bound rings by file. */
#ifndef _KADAPT_BOUND_H
#define _KADAPT_BOUND_H

struct inode;
struct kadapt_ring;

void kadapt_bound_add(struct kadapt_ring *ring);
/* Take the ring out, and give the file its own operations again. */
void kadapt_bound_remove(struct kadapt_ring *ring);
/* The ring that is bound to a file, with a reference, or NULL. */
struct kadapt_ring *kadapt_bound_find(const struct inode *inode);
/* The same; NULL also for the task that holds the ring's lock to drain it. */
struct kadapt_ring *kadapt_bound_by_another(const struct inode *inode);

#endif /* _KADAPT_BOUND_H */
