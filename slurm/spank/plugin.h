/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's side of bundles, a SPANK plugin. The plugin carries the options from the submitting host
 * to the node and calls kadence-node there, which takes all decisions. The plugin never makes a
 * prolog, an epilog or the start of a step fail: Slurm would drain the node.
 *
 * plugstack.conf:	optional /PATH/kadence.so [site=FILE] [seconds=N] [check=no] [comment=yes]
 */
#ifndef KADENCE_SPANK_PLUGIN_H
#define KADENCE_SPANK_PLUGIN_H

#include <limits.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The options of srun, sbatch and salloc; NULL or false: not given. On a node, the options of the
 * step's srun.
 */
struct kadence_options {
	const char *bundle;
	const char *target;
	const char *fallback; /* never NULL */
	bool broadcast;
};

/* The settings from plugstack.conf, the same on all nodes. */
struct kadence_settings {
	const char *site;
	int seconds;  /* the limit of a call of the tool */
	bool check;   /* whether to check bundles at submission */
	bool comment; /* whether to put verdicts into Slurm's accounting */
};

extern struct kadence_options kadence_options;
extern struct kadence_settings kadence_settings;

/* Environment variables of clients and steps; prologs get them with SPANK_ before the name. */
#define KADENCE_BUNDLE "KADENCE_BUNDLE"
#define KADENCE_TARGET "KADENCE_TARGET"
#define KADENCE_FALLBACK "KADENCE_FALLBACK"
/* BROADCAST_WANTED: srun is to copy the bundle to the nodes; BROADCAST_DONE: srun has done so. */
#define KADENCE_BROADCAST "KADENCE_BROADCAST"
#define BROADCAST_WANTED "wanted"
#define BROADCAST_DONE "done"

#define KADENCE_DECIMALS 24 /* characters of a number, at most */
#define KADENCE_OUTPUT 4096

/* options.c: slurm_spank_init() calls these. */
void kadence_read_settings(int argc, char **argv);
int kadence_register_options(spank_t spank);

/* submit.c, in srun, sbatch and salloc: false if the client is to end; a message said why. */
bool kadence_submit(spank_t spank);
int kadence_broadcast(spank_t spank);

/* job_script.c, called beside a job's prolog and epilog. */
int kadence_prolog(spank_t spank);
int kadence_epilog(spank_t spank);

/* step.c, called in slurmstepd. */
int kadence_step_prepare(spank_t spank);
int kadence_task_replace(spank_t spank);
int kadence_task_started(spank_t spank);
int kadence_task_ended(spank_t spank);

/* tool.c */

/* Sets `path` to a program beside the plugin; false if the plugin's own path is unknown. */
bool kadence_beside(const char *name, char path[PATH_MAX]);

/*
 * Runs a program and waits for it, at most the time in the settings; then kills its process group.
 * `output` gets the last line that the program wrote to standard output or error. Returns true if
 * the exit status was 0. kadence_run_tool() passes an environment that has only PATH.
 */
bool kadence_run(char *const words[], char *const environment[], char output[KADENCE_OUTPUT]);
bool kadence_run_tool(char *const words[], char output[KADENCE_OUTPUT]);

#endif
