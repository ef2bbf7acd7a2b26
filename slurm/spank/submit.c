// SPDX-License-Identifier: GPL-2.0-or-later
/* Where jobs are submitted: srun, sbatch and salloc. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

/* For the job's steps, and (with SPANK_ before it) for its prologs and epilogs. */
static void hand_on(spank_t spank, const char *name, const char *value)
{
	if (!value)
		return;
	setenv(name, value, 1);
	spank_job_control_setenv(spank, name, value, 1);
}

/* What the site would refuse on a node is refused here, where somebody reads it. */
static bool is_acceptable(const char *bundle)
{
	char tool[PATH_MAX];
	char output[KADENCE_OUTPUT];
	char *words[] = {tool,
			 "--site",
			 (char *)kadence_settings.site,
			 "check",
			 (char *)bundle,
			 "--target",
			 (char *)(kadence_options.target ? kadence_options.target : ""),
			 NULL};

	if (!kadence_settings.check || !kadence_beside("kadence-node", tool))
		return true;
	if (kadence_run_tool(words, output))
		return true;
	slurm_error("%s", output);
	return false;
}

static bool has_options(void)
{
	return kadence_options.bundle || kadence_options.target || kadence_options.broadcast;
}

/* Nodes and prologs have other working directories. */
static int resolve_bundle(char path[PATH_MAX])
{
	const char *bundle = kadence_options.bundle;

	/* A step may name another target for the bundle of its job. */
	if (!bundle)
		bundle = getenv(KADENCE_BUNDLE);
	if (!bundle) {
		slurm_error("kadence: --kadence-target and --kadence-broadcast need a bundle; "
			    "name one with --kadence");
		return -1;
	}
	if (!realpath(bundle, path)) {
		slurm_error("kadence: cannot read the bundle %s: %s", bundle, strerror(errno));
		return -1;
	}
	return 0;
}

int kadence_submit(spank_t spank)
{
	char path[PATH_MAX];

	if (!has_options())
		return 0;
	if (resolve_bundle(path) || !is_acceptable(path))
		return -1;
	hand_on(spank, KADENCE_BUNDLE, path);
	hand_on(spank, KADENCE_TARGET, kadence_options.target);
	hand_on(spank, KADENCE_FALLBACK, kadence_options.fallback);
	if (kadence_options.broadcast)
		hand_on(spank, KADENCE_BROADCAST, BROADCAST_WANTED);
	return 0;
}

/* Each node removes its copy once it has unpacked it. */
static bool copy_to_nodes(uint32_t job, const char *bundle, const char *copy)
{
	char job_option[KADENCE_DECIMALS + 16];
	char output[KADENCE_OUTPUT];
	char *words[] = {"sbcast", "--force", job_option, (char *)bundle, (char *)copy, NULL};

	snprintf(job_option, sizeof(job_option), "--jobid=%u", job);
	if (kadence_run(words, environ, output))
		return true;
	slurm_error("kadence: the bundle was not copied to the nodes: %s", output);
	return false;
}

/* In srun, once it has its nodes. Without a copy the nodes find no bundle, and say so. */
int kadence_broadcast(spank_t spank)
{
	const char *wanted = getenv(KADENCE_BROADCAST);
	const char *bundle = getenv(KADENCE_BUNDLE);
	char copy[PATH_MAX];
	uint32_t job;
	uint32_t step;

	if (!wanted || !bundle || strcmp(wanted, BROADCAST_WANTED) != 0 ||
	    spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return 0;
	snprintf(copy, sizeof(copy), "/tmp/kadence-%u-%u.%u.kbundle", getuid(), job, step);
	if (copy_to_nodes(job, bundle, copy)) {
		setenv(KADENCE_BUNDLE, copy, 1);
		setenv(KADENCE_BROADCAST, BROADCAST_DONE, 1);
	}
	return 0;
}
