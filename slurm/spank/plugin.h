/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's side of bundles, a SPANK plugin. It carries the options from where a job is submitted to
 * the node and calls kadence-node there; all decisions are that tool's. It never makes a prolog,
 * an epilog or the start of a step fail: Slurm would drain the node.
 *
 * plugstack.conf:	optional /PATH/kadence.so [site=FILE] [seconds=N] [check=no]
 */
#ifndef KADENCE_SPANK_PLUGIN_H
#define KADENCE_SPANK_PLUGIN_H

#include <limits.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of srun, sbatch and salloc; NULL or false: not given. Where a step runs, what was given there. */
struct kadence_options {
	const char *bundle;
	const char *target;
	const char *fallback; /* never NULL */
	bool broadcast;
};

/* What plugstack.conf says; the same on all nodes. */
struct kadence_settings {
	const char *site;
	int seconds; /* that a call of the tool may take */
	bool check;  /* bundles where jobs are submitted */
};

extern struct kadence_options kadence_options;
extern struct kadence_settings kadence_settings;

/* Where the environment of clients and steps, and with SPANK_ before it that of prologs, has it. */
#define KADENCE_BUNDLE "KADENCE_BUNDLE"
#define KADENCE_TARGET "KADENCE_TARGET"
#define KADENCE_FALLBACK "KADENCE_FALLBACK"
/* BROADCAST_WANTED: srun shall copy the bundle to the nodes; BROADCAST_DONE: it has. */
#define KADENCE_BROADCAST "KADENCE_BROADCAST"
#define BROADCAST_WANTED "wanted"
#define BROADCAST_DONE "done"

#define KADENCE_DECIMALS 24 /* characters of a number, at most */
#define KADENCE_OUTPUT 4096

/* options.c: to be called from slurm_spank_init() in every context. */
void kadence_read_settings(int argc, char **argv);
int kadence_register_options(spank_t spank);

/* submit.c, in srun, sbatch and salloc: false where a message said why the client is to end. */
bool kadence_submit(spank_t spank);
int kadence_broadcast(spank_t spank);

/* job_script.c, beside a job's prolog and epilog. */
int kadence_prolog(spank_t spank);
int kadence_epilog(spank_t spank);

/* step.c, in slurmstepd. */
int kadence_step_prepare(spank_t spank);
int kadence_task_replace(spank_t spank);
int kadence_task_started(spank_t spank);
int kadence_task_ended(spank_t spank);

/* tool.c */

/* PATH of a program that lies beside the plugin; false where there is no knowing it. */
bool kadence_beside(const char *name, char path[PATH_MAX]);

/*
 * Runs a program and waits for it, at most the settings' time; then its process group is killed.
 * `output` gets the last line that it wrote to standard output or error. True if it ended with
 * status 0. kadence_run_tool() gives it an environment of PATH alone.
 */
bool kadence_run(char *const words[], char *const environment[], char output[KADENCE_OUTPUT]);
bool kadence_run_tool(char *const words[], char output[KADENCE_OUTPUT]);

#endif
