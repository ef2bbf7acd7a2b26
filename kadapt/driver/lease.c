// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lease on a bound file: whoever else opens or truncates it waits until the
 * ring is empty and the lease returned.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/mount.h>

#include "path.h"

/* Under a spinlock: the worker does it. False: the lease is returned later. */
static bool lease_broken(struct file_lease *lease)
{
	struct kadapt_path *path = lease->c.flc_owner;

	kadapt_drainer_request(path, KADAPT_REQUEST_UNBIND);
	return false;
}

static const struct lease_manager_operations lease_operations = {
	.lm_break = lease_broken,
	.lm_change = lease_modify,
};

/*
 * Files of mounts that only the kernel sees, as memfd_create(2)'s, are not
 * counted as open by who made them.
 */
static bool are_opens_counted(const struct file *file)
{
	return !(file->f_path.mnt->mnt_flags & MNT_INTERNAL);
}

/*
 * As fcntl(F_SETLEASE) would: the file is the caller's own and nobody else has
 * it open. The path outlives the lease, as the binding refers to both.
 */
int kadapt_lease_take(struct kadapt_path *path)
{
	struct file_lease *lease;
	void *owner = path;
	int error;

	if (!are_opens_counted(path->file))
		return -ENOLCK;
	lease = locks_alloc_lease();
	if (!lease)
		return -ENOMEM;
	lease->fl_lmops = &lease_operations;
	lease->c.flc_flags = FL_LEASE;
	lease->c.flc_type = F_WRLCK;
	lease->c.flc_owner = path;
	lease->c.flc_file = path->file;
	lease->c.flc_pid = current->tgid;
	error = vfs_setlease(path->file, F_WRLCK, &lease, &owner);
	/* Where it succeeded the lease is no longer ours to free. */
	if (lease)
		locks_free_lease(lease);
	path->has_lease = !error;
	return error == -ENOMEM ? error : error ? -ENOLCK : 0;
}

void kadapt_lease_return(struct kadapt_path *path)
{
	void *owner = path;

	if (!path->has_lease)
		return;
	path->has_lease = false;
	/* One that was not returned in time is gone already. */
	kernel_setlease(path->file, F_UNLCK, NULL, &owner);
}
