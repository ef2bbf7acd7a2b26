// SPDX-License-Identifier: GPL-2.0-or-later
/* Slurm's entry points; each passes the call on to the code for its context. */
#include <stdlib.h>

#include "plugin.h"

#define PUBLIC __attribute__((visibility("default")))

/* Slurm looks for these names; all others stay hidden. */
#pragma GCC visibility push(default)
SPANK_PLUGIN(kadence, 1)
#pragma GCC visibility pop

static bool is_client(void)
{
	return spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR;
}

PUBLIC int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	kadence_read_settings(argc, argv);
	if (spank_context() == S_CTX_SLURMD)
		return 0;
	return kadence_register_options(spank);
}

PUBLIC int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	/*
	 * The plugin ends the client itself: Slurm ignores the error of an `optional` plugin. A
	 * `required` plugin would drain the node if its file were unreachable for a moment.
	 */
	if (is_client() && !kadence_submit(spank))
		exit(EXIT_FAILURE);
	if (spank_remote(spank) == 1)
		return kadence_step_prepare(spank);
	return 0;
}

PUBLIC int slurm_spank_local_user_init(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return kadence_broadcast(spank);
}

PUBLIC int slurm_spank_job_prolog(spank_t spank, int argc, char **argv)
{
	kadence_read_settings(argc, argv);
	return kadence_prolog(spank);
}

PUBLIC int slurm_spank_job_epilog(spank_t spank, int argc, char **argv)
{
	kadence_read_settings(argc, argv);
	return kadence_epilog(spank);
}

PUBLIC int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return kadence_task_replace(spank);
}

PUBLIC int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return kadence_task_started(spank);
}

PUBLIC int slurm_spank_task_exit(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return kadence_task_ended(spank);
}
