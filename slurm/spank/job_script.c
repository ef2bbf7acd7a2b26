// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Beside a job's prolog and epilog, as root. Whatever happens, both succeed: a prolog that fails
 * drains the node, and a bundle's faults are the job's alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

struct job {
	char tool[PATH_MAX];
	char id[KADENCE_DECIMALS];
	char user[KADENCE_DECIMALS];
};

static bool find_job(spank_t spank, struct job *job)
{
	uint32_t id;
	uid_t user;

	if (spank_get_item(spank, S_JOB_ID, &id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_UID, &user) != ESPANK_SUCCESS)
		return false;
	snprintf(job->id, sizeof(job->id), "%u", id);
	snprintf(job->user, sizeof(job->user), "%u", user);
	return kadence_beside("kadence-node", job->tool);
}

static char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return (char *)(value ? value : otherwise);
}

/*
 * Slurm doesn't say whether the job has its nodes to itself, but who has all of a node's
 * processors has it. Of several nodes with different numbers ("8(x2),4") none is taken to be.
 */
static bool has_whole_node(void)
{
	char *end;
	long granted = strtol(variable("SLURM_JOB_CPUS_PER_NODE", "0"), &end, 10);

	return granted >= sysconf(_SC_NPROCESSORS_ONLN) && (!*end || *end == '(') &&
	       !strchr(end, ',');
}

int kadence_prolog(spank_t spank)
{
	struct job job;
	char output[KADENCE_OUTPUT];
	const char *bundle = getenv("SPANK_" KADENCE_BUNDLE);

	/* One that srun is still to copy here is prepared with its step. */
	if (getenv("SPANK_" KADENCE_BROADCAST))
		return 0;
	if (!bundle || !find_job(spank, &job))
		return 0;
	char *words[] = {job.tool,
			 "--site",
			 (char *)kadence_settings.site,
			 "--node",
			 variable("SLURMD_NODENAME", "localhost"),
			 "prepare",
			 "--job",
			 job.id,
			 "--uid",
			 job.user,
			 "--bundle",
			 (char *)bundle,
			 "--target",
			 variable("SPANK_" KADENCE_TARGET, ""),
			 "--fallback",
			 variable("SPANK_" KADENCE_FALLBACK, "run"),
			 has_whole_node() ? "--exclusive" : NULL,
			 NULL};

	if (!kadence_run_tool(words, output))
		slurm_error("job %s: %s", job.id, output);
	return 0;
}

/* Of every job: a step may have brought a bundle to a job without one. */
int kadence_epilog(spank_t spank)
{
	struct job job;
	char output[KADENCE_OUTPUT];

	if (!find_job(spank, &job))
		return 0;
	char *words[] = {job.tool,
			 "--site",
			 (char *)kadence_settings.site,
			 "--node",
			 variable("SLURMD_NODENAME", "localhost"),
			 "finish",
			 "--job",
			 job.id,
			 NULL};

	if (!kadence_run_tool(words, output) || output[0])
		slurm_error("job %s: %s", job.id, output);
	return 0;
}
