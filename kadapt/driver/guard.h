/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of a bound file that have its ring emptied first. */
#ifndef _KADAPT_GUARD_H
#define _KADAPT_GUARD_H

#include <linux/fs.h>

struct kadapt_path;

/* From here on whoever touches path->file finds it let go. 0 or -ENOMEM. */
int kadapt_guard(struct kadapt_path *path);
/* The file has its own operations again. */
void kadapt_unguard(struct kadapt_path *path);

/* The file's own operations, guarded or not. */
const struct file_operations *kadapt_unguarded(const struct file *file);

/*
 * Under a spinlock: the calling task breaks the lease. Whether it will empty the
 * ring itself, on its way back to user mode; then its call is made anew.
 */
bool kadapt_guard_broken(struct kadapt_path *path);

/* No file is guarded any more. */
void kadapt_guards_exit(void);

#endif /* _KADAPT_GUARD_H */
