// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of kadence-node. */
#ifndef KADENCE_NODE_COMMANDS_H
#define KADENCE_NODE_COMMANDS_H

#include <string>
#include <sys/types.h>

#include "site.h"

namespace kadence
{

struct wish {
	std::string node; /* Slurm's name of this node */
	std::string job;
	std::string step; /* of srun's own --kadence, or empty */
	uid_t user = 0;
	std::string bundle;
	std::string target; /* or empty */
	std::string fallback = "run";
	bool exclusive = false; /* the job has the node to itself */
	bool discard = false;	/* the bundle is a copy for this node alone, to be removed */
};

/* Verifies a bundle for this machine and these rules without unpacking it, or refuses it. */
void check(const site &rules, const std::string &bundle, const std::string &target);

/* Verifies a bundle and returns the name of the site's kernel that it wants, or refuses it. */
std::string kernel_of(const site &rules, const std::string &bundle);

/*
 * Prepares the node for a job and writes the decisions down, also if it refuses the bundle. Does
 * nothing if that was done for this job with the same wish. Returns the job's folder.
 */
std::string prepare(const site &rules, const wish &what);

/* kadence-step: becomes the command of a step, as was decided. Returns only after a failure. */
int become_step(char *arguments[]);

} // namespace kadence

#endif
