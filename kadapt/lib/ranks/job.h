/* SPDX-License-Identifier: MIT */
/*
 * What launchers say of a job in the environment of its processes: Slurm, Open MPI (PMIx)
 * and MPICH (hydra).
 */
#ifndef LIBKADAPT_RANKS_JOB_H
#define LIBKADAPT_RANKS_JOB_H

#include <stdint.h>

#include "base/device_file.h"

struct kadapt_job {
	/*
	 * The same for all ranks, 0 without a launcher. MPICH names no job: there the parent
	 * process stands for the job, so ranks on other nodes have another number.
	 */
	uint64_t number;
	uint64_t here;	      /* the same for the ranks of this node, and of no other job */
	uint32_t local_ranks; /* on this node; 0 if unknown */
	uint32_t nodes;	      /* at least 1 */
};

/* Mixes a text into a sum of texts. */
KADAPT_HIDDEN uint64_t kadapt_mixed(uint64_t sum, const char *text);

KADAPT_HIDDEN struct kadapt_job kadapt_job_read(void);

/*
 * The tasks of one node in Slurm's list, for instance "16(x3),4". Returns 0 if the text is
 * no such list or ends before the node.
 */
KADAPT_HIDDEN uint32_t kadapt_tasks_of_node(const char *list, uint32_t node);

#endif
