/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the author of a unit: who calls a variant. A variant of a unit for
 * everybody may so be for a user or a control group only, and call the original
 * for all others.
 */
#ifndef _KADENCE_CALLER_H
#define _KADENCE_CALLER_H

#include <kadence/unit.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/user_namespace.h>

/* Whether the calling task's effective user, as the system's root sees it, is this one. */
static inline bool kadence_user_is(uid_t user)
{
	return from_kuid(&init_user_ns, current_euid()) == user;
}

#ifdef CONFIG_CGROUPS
/*
 * Whether the calling task is in this control group of version 2, or below it.
 * The group's number is the inode number of its folder.
 */
static inline bool kadence_is_in_group(u64 number)
{
	struct cgroup *group;
	bool is_in = false;

	rcu_read_lock();
	group = task_dfl_cgroup(current);
	for (; group && !is_in; group = cgroup_parent(group))
		is_in = cgroup_id(group) == number;
	rcu_read_unlock();
	return is_in;
}
#endif

#endif /* _KADENCE_CALLER_H */
