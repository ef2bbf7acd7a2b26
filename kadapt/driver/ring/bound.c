// SPDX-License-Identifier: GPL-2.0-only
/* The bound rings by their file's inode; no two rings have the same file. */
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/spinlock.h>

#include "ring/bound.h"
#include "ring/ring.h"

static DEFINE_HASHTABLE(bound, 8);
static DEFINE_SPINLOCK(bound_lock);

void kadapt_bound_add(struct kadapt_ring *ring)
{
	spin_lock(&bound_lock);
	hash_add(bound, &ring->bound, (unsigned long)file_inode(ring->file));
	spin_unlock(&bound_lock);
}

void kadapt_bound_remove(struct kadapt_ring *ring)
{
	if (!hash_hashed(&ring->bound))
		return;
	WRITE_ONCE(ring->file->f_op, ring->operations);
	WRITE_ONCE(file_inode(ring->file)->i_op, ring->inode_operations);
	spin_lock(&bound_lock);
	hash_del(&ring->bound);
	spin_unlock(&bound_lock);
}

struct kadapt_ring *kadapt_bound_find(const struct inode *inode)
{
	struct kadapt_ring *ring;

	spin_lock(&bound_lock);
	hash_for_each_possible(bound, ring, bound, (unsigned long)inode) {
		if (file_inode(ring->file) != inode)
			continue;
		kadapt_ring_get(ring);
		spin_unlock(&bound_lock);
		return ring;
	}
	spin_unlock(&bound_lock);
	return NULL;
}

struct kadapt_ring *kadapt_bound_by_another(const struct inode *inode)
{
	struct kadapt_ring *ring = kadapt_bound_find(inode);

	if (!ring || !kadapt_ring_is_held(ring))
		return ring;
	kadapt_ring_put(ring);
	return NULL;
}
