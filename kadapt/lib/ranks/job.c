// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "decide/numbers.h"
#include "ranks/job.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* More ranks or nodes than any machine has. */
#define MOST_RANKS 100000000

static const char *const names_of_job[] = {"SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE"};

/* MPICH sets it for each rank. It starts all ranks of a node from one process. */
static const char name_of_ranks[] = "PMI_SIZE";

/* An mpirun inside a Slurm job comes first: Slurm's names are then of the whole job. */
static const char *const names_of_local_ranks[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
static const char *const names_of_all_ranks[] = {"OMPI_COMM_WORLD_SIZE", name_of_ranks,
						 "SLURM_STEP_NUM_TASKS"};

uint64_t kadapt_mixed(uint64_t sum, const char *text)
{
	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return kadapt_random(&sum);
}

static const char *value_of(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* A number from 1, or 0. `*text` moves behind it. */
static uint32_t number_at(const char **text)
{
	char *end;
	long number = strtol(*text, &end, 10);

	if (end == *text || number < 1 || number > MOST_RANKS)
		return 0;
	*text = end;
	return (uint32_t)number;
}

static uint32_t first_number(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = value_of(names[i]);

		if (value)
			return number_at(&value);
	}
	return 0;
}

uint32_t kadapt_tasks_of_node(const char *list, uint32_t node)
{
	for (;;) {
		uint32_t tasks = number_at(&list), nodes = 1;

		if (tasks && list[0] == '(' && list[1] == 'x') {
			list += 2;
			nodes = number_at(&list);
			if (*list++ != ')')
				return 0;
		}
		if (!tasks || !nodes || node < nodes)
			return nodes ? tasks : 0;
		node -= nodes;
		if (*list++ != ',')
			return 0;
	}
}

/* Slurm's first node has the number 0. */
static uint32_t tasks_of_slurm(void)
{
	const char *list = value_of("SLURM_STEP_TASKS_PER_NODE");
	const char *node = value_of("SLURM_NODEID");

	return list && node ? kadapt_tasks_of_node(list, number_at(&node)) : 0;
}

static uint64_t number_of_job(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(names_of_job); i++) {
		const char *value = value_of(names_of_job[i]);

		if (value)
			sum = kadapt_mixed(sum, value);
	}
	return sum;
}

static uint64_t number_of_parent(void)
{
	const char *ranks = value_of(name_of_ranks);

	return ranks ? kadapt_mixed((uint64_t)getppid(), ranks) : 0;
}

struct kadapt_job kadapt_job_read(void)
{
	uint64_t parent = number_of_parent();
	struct kadapt_job job = {.number = number_of_job(), .nodes = 1};
	uint32_t ranks = first_number(names_of_all_ranks, COUNT(names_of_all_ranks));

	/* Two runs of MPICH in one Slurm job have different parents. */
	job.here = job.number ^ parent;
	if (!job.number)
		job.number = parent;
	job.local_ranks = first_number(names_of_local_ranks, COUNT(names_of_local_ranks));
	if (!job.local_ranks)
		job.local_ranks = tasks_of_slurm();
	if (job.local_ranks && ranks > job.local_ranks)
		job.nodes = (ranks + job.local_ranks - 1) / job.local_ranks;
	return job;
}
