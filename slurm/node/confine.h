// SPDX-License-Identifier: GPL-2.0-or-later
/* Work with what a user brought, done as that user, in a process that can be stopped. */
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

/* From the node's user database; a refusal where it does not know the user. */
person find_person(uid_t user);

struct confinement {
	person whose;
	int64_t deadline_ns = 0;   /* of monotonic_ns() */
	uint64_t largest_file = 0; /* bytes that it may write to one */
	std::string root;	   /* becomes the process's root directory; empty: none does */
};

/*
 * Runs `work` in a child process that is this user, with the user's groups, and returns what it
 * returned. `before`, if any, runs as the user before the root directory changes, to open what
 * lies outside. A refusal in the child is one here. A child that is not done in time is killed,
 * and left to the kernel where even that takes too long (a dead file server): nobody waits for it.
 */
std::string confine(const confinement &limits, const std::function<std::string()> &work,
		    const std::function<void()> &before = nullptr);

} // namespace kadence

#endif
