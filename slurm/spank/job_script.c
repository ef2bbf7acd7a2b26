// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs beside a job's prolog and epilog, as root. Both always succeed: a failing prolog would drain
 * the node, but a faulty bundle must hurt only its job.
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
 * Slurm does not say whether a job has its nodes to itself, but a job with all of a node's
 * processors does. If nodes give the job different numbers ("8(x2),4"), the answer is false.
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

	/* If srun has yet to copy the bundle here, its step prepares the node. */
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
			 "--say",
			 has_whole_node() ? "--exclusive" : NULL,
			 NULL};

	if (kadence_run_tool(words, output))
		slurm_info("kadence: job %s: %s", job.id, output);
	else
		slurm_error("job %s: %s", job.id, output);
	return 0;
}

/*
 * Puts the verdict into Slurm's accounting, where `sacct --format AdminComment` shows it. By now
 * the job has ended: slurmctld refuses changes (`scontrol update`), but slurmdbd takes this one. Of
 * a job on several nodes, the last one to end leaves its line.
 */
static void comment_on(const struct job *job, const char *verdict)
{
	char id[KADENCE_DECIMALS + 16];
	char comment[KADENCE_OUTPUT + 32];
	char output[KADENCE_OUTPUT];
	char *words[] = {"sacctmgr", "--immediate", "--quiet", "modify", "job", "where",
			 id,	     "set",	    comment,   NULL};

	if (!kadence_settings.comment)
		return;
	snprintf(id, sizeof(id), "jobid=%s", job->id);
	snprintf(comment, sizeof(comment), "admincomment=kadence: %s", verdict);
	if (!kadence_run(words, environ, output))
		slurm_error("job %s: its comment was not set: %s", job->id, output);
}

/* Runs for every job, because a step may have brought a bundle to a job without one. */
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

	if (!kadence_run_tool(words, output)) {
		slurm_error("job %s: %s", job.id, output);
	} else if (output[0]) {
		slurm_info("kadence: job %s ended: %s", job.id, output);
		comment_on(&job, output);
	}
	return 0;
}
