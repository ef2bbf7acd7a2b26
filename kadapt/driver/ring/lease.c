// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lease on a bound file. A task that opens the file in a conflicting way,
 * or truncates it, waits until the ring is empty and the lease is returned.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/mount.h>

#include "base/compat.h"
#include "ring/lease.h"

/* Returns false because the lease is returned later. */
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

/* The receiver of a file's signals (F_SETOWN, F_SETSIG). */
struct receiver {
	struct pid *pid;	/* with a reference */
	enum pid_type type;
	kuid_t uid, euid;
	int signal;
};

static struct receiver receiver_of(struct fown_struct *owner)
{
	struct receiver found;

	read_lock_irq(&owner->lock);
	found = (struct receiver){ get_pid(owner->pid), owner->pid_type,
				   owner->uid, owner->euid, owner->signum };
	read_unlock_irq(&owner->lock);
	return found;
}

static void set_receiver(struct fown_struct *owner, struct receiver receiver)
{
	write_lock_irq(&owner->lock);
	/* Another task may have named a receiver meanwhile. */
	if (!owner->pid) {
		swap(owner->pid, receiver.pid);
		owner->pid_type = receiver.type;
		owner->uid = receiver.uid;
		owner->euid = receiver.euid;
	}
	if (!owner->signum)
		owner->signum = receiver.signal;
	write_unlock_irq(&owner->lock);
	put_pid(receiver.pid);
}

/*
 * lease_modify() removes the file's receiver of signals, because leases of
 * programs set one. Called under a spinlock.
 */
static int lease_changed(struct file_lease *changed, int type,
			 struct list_head *dispose)
{
	struct fown_struct *owner = file_f_owner(changed->c.flc_file);
	struct receiver receiver = receiver_of(owner);
	int error = lease_modify(changed, type, dispose);

	set_receiver(owner, receiver);
	return error;
}

static const struct lease_manager_operations lease_operations = {
	.lm_break = lease_broken,
	.lm_breaker_owns_lease = breaker_owns_lease,
	.lm_change = lease_changed,
	COMPAT_OPEN_CONFLICT
};

/*
 * Files of the kernel's internal mounts, as of memfd_create(2), are not counted
 * as open by the task that made them.
 */
static bool are_opens_counted(const struct file *file)
{
	return !(file->f_path.mnt->mnt_flags & MNT_INTERNAL);
}

/*
 * Another machine can change the files of a network file system without waiting
 * for a lease of this kernel. Such file systems revalidate names or have leases
 * of their own.
 */
static bool is_local(const struct file *file)
{
	if (file->f_op->setlease && file->f_op->setlease != generic_setlease)
		return false;
	return !(file->f_path.dentry->d_flags & DCACHE_OP_REVALIDATE);
}

static struct file_lease *create(struct kadapt_lease *lease, struct file *file)
{
	struct file_lease *created = locks_alloc_lease();

	if (!created)
		return NULL;
	created->fl_lmops = &lease_operations;
	/* A change of the file's attributes breaks a delegation, too. */
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

	if (!is_local(file) || !are_opens_counted(file))
		return -ENOLCK;
	created = create(lease, file);
	if (!created)
		return -ENOMEM;
	error = vfs_setlease(file, F_WRLCK, &created, &owner);
	/*
	 * On success vfs_setlease() owns the lease and has cleared `created`.
	 */
	if (created)
		locks_free_lease(created);
	lease->file = error ? NULL : file;
	return error == -ENOMEM ? error : error ? -ENOLCK : 0;
}

/* The kernel leaves it to the giver of a delegation to look for other opens. */
static bool is_open_elsewhere(struct file *file)
{
	const struct inode *inode = file_inode(file);
	bool writes = file->f_mode & FMODE_WRITE;
	bool reads = !writes && file->f_mode & FMODE_READ;

	/*
	 * Pairs with smp_mb() in break_lease(): delegation before the counts.
	 */
	smp_mb();
	return atomic_read(&inode->i_writecount) != writes ||
	       atomic_read(&inode->i_readcount) != reads;
}

/* vfs_setlease() checks that the caller owns the file or has CAP_LEASE. */
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
	/* The kernel has removed a lease that was not returned in time. */
	kernel_setlease(lease->file, F_UNLCK, NULL, &owner);
	lease->file = NULL;
}
