/* SPDX-License-Identifier: GPL-2.0-only */
/* A guard: copies of a file system's operations that unbind a ring first. */
#ifndef _KADAPT_GUARDED_H
#define _KADAPT_GUARDED_H

#include <linux/fs.h>
#include <linux/list.h>

/* The copies are written to. checkpatch expects such structures to be const. */
#define kadapt_file_operations file_operations
#define kadapt_inode_operations inode_operations

/* One for all files with the same operations. */
struct kadapt_guard {
	struct list_head link;
	const struct file_operations *original;
	struct kadapt_file_operations guarded;
	const struct inode_operations *original_inode;
	struct kadapt_inode_operations guarded_inode;
};

/* Replace the operations in the copies. */
void kadapt_guard_fill(struct kadapt_guard *guard);

/* A guarded file is known by these. */
int kadapt_guarded_flush(struct file *file, fl_owner_t owner);
int kadapt_guarded_getattr(struct mnt_idmap *idmap, const struct path *where,
			   struct kstat *answer, u32 mask, unsigned int flags);

#endif /* _KADAPT_GUARDED_H */
