// SPDX-License-Identifier: GPL-2.0-or-later
/* What Slurm tells about a job. */
#ifndef KADENCE_NODE_WISH_H
#define KADENCE_NODE_WISH_H

#include <string>
#include <sys/types.h>

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

} // namespace kadence

#endif
