// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "decide/numbers.h"
#include "trials/settings.h"

#define DEFAULT_SHARE 0.01
#define MOST_SHARE 0.5
#define PERCENT 0.01

/* Slurm and PMIx (Open MPI) name the job that a process belongs to. */
static const char *const names_of_job[] = {"SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE"};

/* MPICH names no job, but it starts all ranks of a node from one process. */
static const char name_of_ranks[] = "PMI_SIZE";

static uint64_t mixed(uint64_t sum, const char *text)
{
	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return kadapt_random(&sum);
}

static uint64_t seed_of_process(void)
{
	struct timespec now;
	uint64_t sum;

	clock_gettime(CLOCK_REALTIME, &now);
	sum = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 48;
	return kadapt_random(&sum);
}

static uint64_t seed_of_job(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(names_of_job) / sizeof(names_of_job[0]); i++) {
		const char *name = secure_getenv(names_of_job[i]);

		if (name && *name)
			sum = mixed(sum, name);
	}
	return sum;
}

static uint64_t seed_of_ranks(void)
{
	const char *ranks = secure_getenv(name_of_ranks);

	return ranks && *ranks ? mixed((uint64_t)getppid(), ranks) : 0;
}

static uint64_t find_seed(void)
{
	const char *given = secure_getenv("KADAPT_TRIALS_SEED");
	uint64_t seed;

	if (given && *given)
		return mixed(1, given);
	seed = seed_of_job();
	if (!seed)
		seed = seed_of_ranks();
	return seed ? seed : seed_of_process();
}

/* A whole number of percent. strtod would depend on the locale. */
static double share_of(const char *text)
{
	char *end;
	long percent = strtol(text, &end, 10);

	if (end == text || strcmp(end, "%") != 0 || percent < 0)
		return DEFAULT_SHARE;
	return percent * PERCENT < MOST_SHARE ? percent * PERCENT : MOST_SHARE;
}

int kadapt_settings_read(struct kadapt_settings *settings)
{
	const char *text = secure_getenv("KADAPT_TRIALS");

	settings->share = text && *text ? share_of(text) : DEFAULT_SHARE;
	settings->seed = find_seed();
	return settings->share > 0 && !(text && strcmp(text, "off") == 0);
}
