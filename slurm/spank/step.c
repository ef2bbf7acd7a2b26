// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In slurmstepd, replaces the name of the step's command by kadence-step's. Executing kadence-step
 * from here would skip Slurm's own work after the plugins (TaskProlog, limits, affinity).
 */
#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plugin.h"

#define TASK_NOTE 256

/* The state of this step; each slurmstepd has one. */
static struct {
	bool active;
	char number[KADENCE_DECIMALS]; /* of the step, or batch */
	char folder[PATH_MAX];	       /* of the job on this node, or empty */
	char problem[KADENCE_OUTPUT];  /* why there is no folder, or empty */
	char fallback[8];
	bool is_copy; /* the bundle is srun's copy, to be removed */
	uint32_t tasks;
	struct timespec *started; /* start of each local task */
} step;

/* Reads a variable of the step's environment; false if it is missing or empty. */
static bool get_variable(spank_t spank, const char *name, char *value, size_t bytes)
{
	return spank_getenv(spank, name, value, (int)bytes) == ESPANK_SUCCESS && *value;
}

/* Returns false for containers and interactive shells, which are not the job's own steps. */
static bool read_number(uint32_t id)
{
	if (id == SLURM_BATCH_SCRIPT)
		snprintf(step.number, sizeof(step.number), "batch");
	else if (id <= SLURM_MAX_NORMAL_STEP_ID)
		snprintf(step.number, sizeof(step.number), "%u", id);
	else
		return false;
	return true;
}

/* Returns false if the bundle is not here yet: in a batch script whose srun will copy it. */
static bool is_there(spank_t spank)
{
	char broadcast[16];

	if (!get_variable(spank, KADENCE_BROADCAST, broadcast, sizeof(broadcast)))
		return true;
	step.is_copy = strcmp(broadcast, BROADCAST_DONE) == 0;
	return step.is_copy;
}

/* With --export=NONE the environment lacks the variables: Slurm's own record has the options. */
static bool find_options(spank_t spank, char bundle[PATH_MAX], char target[16])
{
	target[0] = '\0';
	if (!get_variable(spank, KADENCE_FALLBACK, step.fallback, sizeof(step.fallback)))
		snprintf(step.fallback, sizeof(step.fallback), "%s", kadence_options.fallback);
	if (!get_variable(spank, KADENCE_TARGET, target, 16) && kadence_options.target)
		snprintf(target, 16, "%s", kadence_options.target);
	if (get_variable(spank, KADENCE_BUNDLE, bundle, PATH_MAX))
		return true;
	/* A relative path is relative to another directory, which the prolog knows. */
	bundle[0] = '\0';
	if (kadence_options.bundle && kadence_options.bundle[0] == '/')
		snprintf(bundle, PATH_MAX, "%s", kadence_options.bundle);
	return kadence_options.bundle;
}

/* Counts the numbers of a list such as "0-3,6"; 0 for a malformed list. */
static long count_listed(const char *list)
{
	long count = 0;

	while (*list) {
		char *end;
		long first = strtol(list, &end, 10);
		long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

		if (end == list)
			return 0;
		count += last - first + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

static long threads_of_a_core(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/smt/active", "re");
	int is_several = file && fgetc(file) == '1';

	if (file)
		fclose(file);
	return is_several ? 2 : 1;
}

/* As in the prolog, which may not have run here; the job's credential has the cores. */
static bool has_whole_node(spank_t spank)
{
	char *cores;

	if (spank_get_item(spank, S_JOB_ALLOC_CORES, &cores) != ESPANK_SUCCESS || !cores)
		return false;
	return count_listed(cores) * threads_of_a_core() >= sysconf(_SC_NPROCESSORS_ONLN);
}

static void call_prepare(uint32_t job, uid_t user, char *bundle, char *target, bool is_exclusive)
{
	char tool[PATH_MAX];
	char output[KADENCE_OUTPUT];
	const char *node = getenv("SLURMD_NODENAME"); /* slurmstepd's own, not yet the step's */
	char job_text[KADENCE_DECIMALS];
	char user_text[KADENCE_DECIMALS];
	bool is_batch = strcmp(step.number, "batch") == 0;
	char *words[24] = {tool,
			   "--site",
			   (char *)kadence_settings.site,
			   "--node",
			   (char *)(node ? node : "localhost"),
			   "prepare",
			   "--job",
			   job_text,
			   "--uid",
			   user_text,
			   "--bundle",
			   bundle,
			   "--target",
			   target,
			   "--fallback",
			   step.fallback};
	char **next = words;

	while (*next)
		next++;
	if (is_exclusive)
		*next++ = "--exclusive";
	if (!is_batch) {
		*next++ = "--step";
		*next++ = step.number;
	}
	if (!is_batch && step.is_copy)
		*next++ = "--discard";
	snprintf(job_text, sizeof(job_text), "%u", job);
	snprintf(user_text, sizeof(user_text), "%u", user);
	if (!kadence_beside("kadence-node", tool))
		return;
	if (kadence_run_tool(words, output)) {
		snprintf(step.folder, sizeof(step.folder), "%s", output);
	} else {
		/* The tool's messages begin with its name, for users who call it by hand. */
		const char *sentence = strncmp(output, "kadence: ", 9) ? output : output + 9;

		slurm_error("job %s: %s", job_text, output);
		snprintf(step.problem, sizeof(step.problem), "%s", sentence);
	}
}

/* Runs as root. Usually the prolog has prepared the node, and the tool finds that. */
int kadence_step_prepare(spank_t spank)
{
	char bundle[PATH_MAX];
	char target[16];
	uint32_t job;
	uint32_t id;
	uid_t user;

	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_UID, &user) != ESPANK_SUCCESS || !read_number(id) ||
	    !is_there(spank) || !find_options(spank, bundle, target))
		return 0;
	step.active = true;
	call_prepare(job, user, bundle, target, has_whole_node(spank));
	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step.tasks) == ESPANK_SUCCESS)
		step.started = calloc(step.tasks, sizeof(*step.started));
	return 0;
}

/*
 * Runs in the task's process, just before Slurm executes the command. spank.h forbids changing the
 * arguments, because they are slurmstepd's. After the fork this process has its own copy, which the
 * exec is about to replace.
 */
int kadence_task_replace(spank_t spank)
{
	static char wrapper[PATH_MAX];
	char **arguments;
	int count;

	if (!step.active || !kadence_beside("kadence-step", wrapper) ||
	    spank_get_item(spank, S_JOB_ARGV, &count, &arguments) != ESPANK_SUCCESS || count < 1)
		return 0;
	spank_setenv(spank, "KADENCE_STEP_COMMAND", arguments[0], 1);
	spank_setenv(spank, "KADENCE_STEP", step.number, 1);
	spank_setenv(spank, "KADENCE_JOB", step.folder, 1);
	spank_setenv(spank, "KADENCE_PROBLEM", step.problem, 1);
	spank_setenv(spank, "KADENCE_STEP_FALLBACK", step.fallback, 1);
	arguments[0] = wrapper;
	return 0;
}

static bool find_task(spank_t spank, uint32_t *local, uint32_t *global)
{
	int task;

	if (!step.active || !step.folder[0] || !step.started ||
	    spank_get_item(spank, S_TASK_ID, &task) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_TASK_GLOBAL_ID, global) != ESPANK_SUCCESS)
		return false;
	*local = (uint32_t)task;
	return *local < step.tasks;
}

int kadence_task_started(spank_t spank)
{
	uint32_t local;
	uint32_t global;

	if (find_task(spank, &local, &global))
		clock_gettime(CLOCK_MONOTONIC, &step.started[local]);
	return 0;
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/*
 * Writes a note for the epilog, beside the step's own. The folder is the user's, so an existing
 * file or link of that name is left alone.
 */
static void write_note(const char *name, const char *text)
{
	int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	ssize_t length = (ssize_t)strlen(text);

	if (file < 0)
		return;
	if (write(file, text, (size_t)length) != length)
		unlink(name);
	close(file);
}

int kadence_task_ended(spank_t spank)
{
	char name[PATH_MAX + 64];
	char text[TASK_NOTE];
	uint32_t local;
	uint32_t global;
	int status;

	if (!find_task(spank, &local, &global) || strcmp(step.number, "batch") == 0 ||
	    spank_get_item(spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS)
		return 0;
	snprintf(name, sizeof(name), "%s/steps/%s.%u.task.json", step.folder, step.number, global);
	snprintf(text, sizeof(text),
		 "{\"step\": \"%s\", \"task\": %u, \"status\": %d, \"signal\": %d, "
		 "\"task_seconds\": %.6f}\n",
		 step.number, global, WIFEXITED(status) ? WEXITSTATUS(status) : 128,
		 WIFSIGNALED(status) ? WTERMSIG(status) : 0, seconds_since(&step.started[local]));
	write_note(name, text);
	return 0;
}
