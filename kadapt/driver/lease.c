// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lease on a bound file: whoever would open it in a way that conflicts, or
 * truncate it, waits until the ring is empty and the lease returned.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/mount.h>

#include "compat.h"
#include "lease.h"

/* False: the lease is returned later. */
static bool lease_broken(struct file_lease *broken)
{
	struct kadapt_lease *lease = broken->c.flc_owner;

	lease->broken(lease);
	return false;
}

static bool breaker_owns_lease(struct file_lease *asked)
{
	const struct kadapt_lease *lease = asked->c.flc_owner;

	return lease->owns(lease);
}

static const struct lease_manager_operations lease_operations = {
	.lm_break = lease_broken,
	.lm_breaker_owns_lease = breaker_owns_lease,
	.lm_change = lease_modify,
	COMPAT_OPEN_CONFLICT
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
 * A file system that asks anew whether a name still stands may have its files
 * changed from elsewhere, where nobody waits for a lease of ours. What knows
 * leases of its own is such a one, too.
 */
static bool is_local(const struct file *file)
{
	if (file->f_op->setlease && file->f_op->setlease != generic_setlease)
		return false;
	return !(file->f_path.dentry->d_flags & DCACHE_OP_REVALIDATE);
}

/* To return a lease clears who gets signals of the file. */
static bool has_signals(const struct file *file)
{
	const struct fown_struct *owner = file_f_owner(file);

	return owner && (READ_ONCE(owner->pid) || owner->signum);
}

static struct file_lease *create(struct kadapt_lease *lease, struct file *file)
{
	struct file_lease *created = locks_alloc_lease();

	if (!created)
		return NULL;
	created->fl_lmops = &lease_operations;
	/* A delegation is broken by a change of the file's attributes, too. */
	created->c.flc_flags = FL_DELEG;
	created->c.flc_type = F_WRLCK;
	created->c.flc_owner = lease;
	created->c.flc_file = file;
	created->c.flc_pid = current->tgid;
	return created;
}

static int take(struct kadapt_lease *lease, struct file *file)
{
	struct file_lease *created;
	void *owner = lease;
	int error;

	if (!is_local(file) || !are_opens_counted(file) || has_signals(file))
		return -ENOLCK;
	created = create(lease, file);
	if (!created)
		return -ENOMEM;
	error = vfs_setlease(file, F_WRLCK, &created, &owner);
	/* Where it succeeded the lease is no longer ours to free. */
	if (created)
		locks_free_lease(created);
	lease->file = error ? NULL : file;
	return error == -ENOMEM ? error : error ? -ENOLCK : 0;
}

/* Who gives a delegation looks whether anybody else has the file open. */
static bool is_open_elsewhere(struct file *file)
{
	const struct inode *inode = file_inode(file);
	bool writes = file->f_mode & FMODE_WRITE;
	bool reads = !writes && file->f_mode & FMODE_READ;

	/* After the delegation is there to be broken: generic_add_lease(). */
	smp_mb();
	return atomic_read(&inode->i_writecount) != writes ||
	       atomic_read(&inode->i_readcount) != reads;
}

/* As fcntl(F_SETLEASE) would: the file is the caller's own. */
int kadapt_lease_take(struct kadapt_lease *lease, struct file *file)
{
	int error = take(lease, file);

	if (error || !is_open_elsewhere(file))
		return error;
	kadapt_lease_return(lease);
	return -ENOLCK;
}

void kadapt_lease_return(struct kadapt_lease *lease)
{
	void *owner = lease;

	if (!lease->file)
		return;
	/* One that was not returned in time is gone already. */
	kernel_setlease(lease->file, F_UNLCK, NULL, &owner);
	lease->file = NULL;
}
