// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * huge_level LEARNED STEPS: each step is a visit with three blocks of 8 MiB, touched and
 * freed. If LEARNED is 1, earlier runs found that huge pages help. Checks the contents,
 * and prints the KiB in huge pages and the peak of resident KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/levels.h"
#include "libkadapt.h"
#include "trials/kind.h"

#define BYTES ((size_t)8 << 20)
#define TREATMENTS (KADAPT_TREAT_KEEP | KADAPT_TREAT_HUGE)

struct whole_plan {
	struct kadapt_plan plan;
	struct kadapt_plan_policy policy[2];
	struct kadapt_plan_learned learned[2];
};

#define LEARNED(at)                                                                                \
	{                                                                                          \
		.policy = KADAPT_TRY_MEMORY, .level = (at), .effect_ppm = -200000,                 \
		.error_ppm = 10000                                                                 \
	}

struct whole_plan whole __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI,
	     .policies = 2,
	     .flags = KADAPT_PLAN_MEMORY | KADAPT_PLAN_TRIALS,
	     .keep_bytes = 4 * BYTES,
	     .fresh_least_bytes = 128 << 10},
    .policy = {{.phase = 0, .tried = KADAPT_TRY_MEMORY, .visits = 400}, {.phase = 1}},
    .learned = {LEARNED(KADAPT_LEVEL_PLANNED), LEARNED(KADAPT_LEVEL_HUGE)},
};

/* Runs before the library's trials begin. */
__attribute__((constructor(101))) static void learn(int count, char **words)
{
	struct kadapt_machine_kind kind;

	kadapt_kind_look(&kind);
	whole.plan.learned = count > 1 && strcmp(words[1], "1") == 0 ? 2 : 0;
	for (int i = 0; i < 2; i++)
		whole.learned[i].machine = kadapt_kind_hash(&kind);
}

static void visit(int number)
{
	unsigned char *blocks[3];

	kadapt_phase_enter(0);
	for (int i = 0; i < 3; i++) {
		blocks[i] = kadapt_malloc(BYTES, TREATMENTS);
		memset(blocks[i], number + i, BYTES);
	}
	for (int i = 0; i < 3; i++) {
		for (size_t at = 0; at < BYTES; at += 4096)
			if (blocks[i][at] != (unsigned char)(number + i))
				exit(1);
		free(blocks[i]);
	}
	kadapt_phase_enter(1);
}

static long in_huge_pages(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kibibytes = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "AnonHugePages: %ld", &kibibytes);
	if (file)
		fclose(file);
	return kibibytes;
}

int main(int count, char **words)
{
	struct rusage used;

	if (count != 3)
		return 2;
	for (int i = 0; i < atoi(words[2]); i++)
		visit(i);
	getrusage(RUSAGE_SELF, &used);
	printf("%ld %ld\n", in_huge_pages(), used.ru_maxrss);
	return 0;
}
