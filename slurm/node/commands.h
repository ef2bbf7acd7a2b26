// SPDX-License-Identifier: GPL-2.0-or-later
/* What kadence-node can be told to do. */
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
	bool discard = false;	/* the bundle is a copy made for this node alone */
};

/* Verifies a bundle for this machine and these rules without unpacking it; a refusal if not. */
void check(const site &rules, const std::string &bundle, const std::string &target);

/* The name of the node's kernel that a bundle wants, once it was verified; a refusal if none. */
std::string kernel_of(const site &rules, const std::string &bundle);

/*
 * Makes the node ready for a job and writes down what was decided, whatever the bundle is like.
 * Done before for this job with the same wish, it does nothing. Returns the job's folder.
 */
std::string prepare(const site &rules, const wish &what);

/* kadence-step: becomes the command of a step, as decided. Returns only to fail. */
int become_step(char *arguments[]);

} // namespace kadence

#endif
