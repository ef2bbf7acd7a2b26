// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs in the clients: srun, sbatch and salloc. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "plugin.h"

/* Sets a variable for the job's steps, and (with SPANK_ before it) for its prologs and epilogs. */
static void hand_on(spank_t spank, const char *name, const char *value)
{
	if (!value)
		return;
	setenv(name, value, 1);
	spank_job_control_setenv(spank, name, value, 1);
}

/* Refuses a bundle here that the site would refuse on a node: here the user sees the message. */
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

/* Slurm gives a job's options to each srun in the job, as if srun had been called with them. */
#define INHERITED_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_kadence_kadence"
#define INHERITED_BUNDLE "SLURM_SPANK_" KADENCE_BUNDLE

/* Returns the bundle of the job around this step, or NULL if the step names its own. */
static const char *inherited_bundle(void)
{
	const char *given = kadence_options.bundle;
	const char *inherited = getenv(INHERITED_OPTION);

	if (given && (!inherited || strcmp(given, inherited) != 0))
		return NULL;
	return getenv(INHERITED_BUNDLE);
}

/* Makes the bundle's path absolute, because nodes and prologs have other working directories. */
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
	/* The job's submission checked an inherited bundle. The node will see any later change. */
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

/* Chooses a name that nobody on a node can guess; false if there are no random numbers. */
static bool name_copy(uint32_t job, uint32_t step, char name[PATH_MAX])
{
	uint64_t unknown;

	if (getrandom(&unknown, sizeof(unknown), 0) != (ssize_t)sizeof(unknown)) {
		slurm_error("kadence: cannot choose a name for the bundle's copy: %m");
		return false;
	}
	snprintf(name, PATH_MAX, "/tmp/kadence-%u-%u.%u-%016lx.kbundle", getuid(), job, step,
		 unknown);
	return true;
}

/* Runs in srun once it has its nodes. If the copy fails, the nodes find no bundle and say so. */
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
