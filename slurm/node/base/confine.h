// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs work on a user's files as that user, in a process that can be killed. */
#ifndef KADENCE_NODE_CONFINE_H
#define KADENCE_NODE_CONFINE_H

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

namespace kadence
{

struct person {
	uid_t user = 0;
	gid_t group = 0;
	std::string name;
};

/* Looks a user up in the node's user database; refuses an unknown user. */
person find_person(uid_t user);

struct confinement {
	person whose;
	int64_t deadline_ns = 0;   /* of monotonic_ns() */
	uint64_t largest_file = 0; /* the most bytes that the work may write to a file */
	std::string root;	   /* the process's root directory; empty: unchanged */
};

/*
 * Runs `work` in a child process as this user, with the user's groups, and returns its result.
 * `before`, if any, runs as the user before the root directory changes, to open files outside it.
 * Repeats a refusal of the child. Kills a child that is late. If the child does not end soon after
 * (because of a dead file server), leaves it to the kernel and does not wait.
 */
std::string confine(const confinement &limits, const std::function<std::string()> &work,
		    const std::function<void()> &before = nullptr);

} // namespace kadence

#endif
