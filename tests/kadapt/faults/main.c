// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kadapt-faults [-d DIRECTORY] [-k KILLS] [-f CALLS] [-r ROUNDS] [-s SEED] [CASE...]
 *
 * Faults on purpose while rings are bound: writers are killed, disks become full, descriptors
 * change, programs overwrite headers. Runs the cases whose names begin with one of the words, or
 * all cases, and reports in TAP. The same SEED gives the same random numbers, but timers decide
 * when a writer is killed. The program must be root, and alone in its guest.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"

struct setting setting = {
    .directory = "/tmp",
    .kills = 20,
    .calls = 20000,
    .rounds = 20,
    .seed = 1,
};

struct path in_directory(const char *name)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/%s", setting.directory, name);
	return path;
}

static bool is_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

static bool read_option(int option)
{
	switch (option) {
	case 'd':
		setting.directory = optarg;
		return true;
	case 'k':
		return is_number(optarg, &setting.kills);
	case 'f':
		return is_number(optarg, &setting.calls);
	case 'r':
		return is_number(optarg, &setting.rounds);
	case 's':
		return is_number(optarg, &setting.seed);
	}
	return false;
}

int main(int count, char **arguments)
{
	const struct test_case *const tables[] = {
	    kill_cases,	   shortage_cases, descriptor_cases,   flip_cases,
	    hostile_cases, fuzz_cases,	   memory_fault_cases, NULL,
	};
	int option;

	while ((option = getopt(count, arguments, "d:k:f:r:s:")) != -1)
		if (!read_option(option)) {
			fprintf(stderr,
				"usage: %s [-d DIRECTORY] [-k KILLS] [-f CALLS] [-r ROUNDS] "
				"[-s SEED] [CASE...]\n",
				*arguments);
			return 2;
		}
	if (!(device_features() & KADAPT_FEATURE_RINGS)) {
		note("this kernel has no rings");
		return SKIPPED;
	}
	return run_cases(tables, arguments + optind);
}
