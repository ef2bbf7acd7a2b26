// SPDX-License-Identifier: GPL-2.0-or-later
/* Where jobs are submitted: srun, sbatch and salloc. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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

/* Slurm hands a job's options to the srun in it as if they had been given there. */
#define INHERITED_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_kadence_kadence"
#define INHERITED_BUNDLE "SLURM_SPANK_" KADENCE_BUNDLE

/* The bundle of the job that this is a step of, or NULL where the step names its own. */
static const char *inherited_bundle(void)
{
	const char *given = kadence_options.bundle;
	const char *inherited = getenv(INHERITED_OPTION);

	if (given && (!inherited || strcmp(given, inherited) != 0))
		return NULL;
	return getenv(INHERITED_BUNDLE);
}

/* Nodes and prologs have other working directories. */
static bool resolve_bundle(char path[PATH_MAX])
{
	if (!kadence_options.bundle) {
		slurm_error("kadence: --kadence-target and --kadence-broadcast need a bundle; "
			    "name one with --kadence");
		return false;
	}
	if (!realpath(kadence_options.bundle, path)) {
		slurm_error("kadence: cannot read the bundle %s: %s", kadence_options.bundle,
			    strerror(errno));
		return false;
	}
	return is_acceptable(path);
}

bool kadence_submit(spank_t spank)
{
	char path[PATH_MAX];
	const char *bundle = inherited_bundle();

	if (!has_options())
		return true;
	/* What became of the job's bundle meanwhile is for the node to see. */
	if (!bundle && resolve_bundle(path))
		bundle = path;
	if (!bundle)
		return false;
	hand_on(spank, KADENCE_BUNDLE, bundle);
	hand_on(spank, KADENCE_TARGET, kadence_options.target);
	hand_on(spank, KADENCE_FALLBACK, kadence_options.fallback);
	if (kadence_options.broadcast)
		hand_on(spank, KADENCE_BROADCAST, BROADCAST_WANTED);
	return true;
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

/* A name that nobody on a node can have taken before; false without random numbers. */
static bool name_copy(uint32_t job, uint32_t step, char name[PATH_MAX])
{
	uint64_t unknown;

	if (getrandom(&unknown, sizeof(unknown), 0) != (ssize_t)sizeof(unknown)) {
		slurm_error("kadence: the bundle's copy gets no random name: %m");
		return false;
	}
	snprintf(name, PATH_MAX, "/tmp/kadence-%u-%u.%u-%016lx.kbundle", getuid(), job, step,
		 unknown);
	return true;
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
	if (name_copy(job, step, copy) && copy_to_nodes(job, bundle, copy)) {
		setenv(KADENCE_BUNDLE, copy, 1);
		setenv(KADENCE_BROADCAST, BROADCAST_DONE, 1);
	}
	return 0;
}
