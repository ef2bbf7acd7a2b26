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

static uint64_t seed_of_process(void)
{
	struct timespec now;
	uint64_t sum;

	clock_gettime(CLOCK_REALTIME, &now);
	sum = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 48;
	return kadapt_random(&sum);
}

static uint64_t find_seed(const struct kadapt_job *job)
{
	const char *given = secure_getenv("KADAPT_TRIALS_SEED");

	if (given && *given)
		return kadapt_mixed(1, given);
	return job->number ? job->number : seed_of_process();
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

	settings->job = kadapt_job_read();
	settings->share = text && *text ? share_of(text) : DEFAULT_SHARE;
	/* A trial on one node may hold up the ranks of all. */
	settings->share /= settings->job.nodes;
	settings->seed = find_seed(&settings->job);
	return settings->share > 0 && !(text && strcmp(text, "off") == 0);
}
