// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slices [NAME...]: slices that libkadapt asks for without the device, in a dynamic program with a
 * plan of its own. `slices --phase` prints the slice of the long phase, and `slices --calm` enters
 * phases many times between which the slice hardly ever changes.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "libkadapt.h"

struct plan_of_slices {
	struct kadapt_plan plan;
	struct kadapt_plan_policy policy[6];
};

const struct plan_of_slices planned __asm__("kadapt_plan") = {
    .plan = {.abi = KADAPT_PLAN_ABI, .policies = 6},
    .policy = {{.phase = LONG, .quantum_ns = 5 * NS_PER_S},
	       {.phase = PLAIN},
	       {.phase = SHORT, .quantum_ns = SHORT_NS},
	       {.phase = SHORTEST, .quantum_ns = 1},
	       {.phase = ALSO_LONG, .quantum_ns = 3600 * NS_PER_S},
	       {.phase = ALSO_PLAIN}},
};

uint64_t default_ns;

uint64_t seen_slice(void)
{
	uint64_t *seen = shared_memory(sizeof(*seen));
	pid_t thread = (pid_t)syscall(SYS_gettid);
	pid_t child = fork();

	if (child == 0) {
		*seen = slice_of(thread);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return *seen;
}

uint64_t slice_after_exec(void)
{
	char *words[] = {"slices", PHASE_AFTER_EXEC, NULL};
	char text[32] = {0};
	int ends[2];

	fflush(stdout);
	if (pipe(ends))
		return 0;
	if (vfork() == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execv("/proc/self/exe", words);
		_exit(FAILED);
	}
	close(ends[1]);
	if (read(ends[0], text, sizeof(text) - 1) < 1)
		return 0;
	wait(NULL);
	return strtoull(text, NULL, 10);
}

static int tell_phase(void)
{
	kadapt_phase_enter(LONG);
	printf("%" PRIu64 "\n", slice_of(0));
	return PASSED;
}

static int enter_calmly(void)
{
	for (int i = 0; i < 1000; i++) {
		kadapt_phase_enter(LONG);
		kadapt_phase_enter(LONG);
		kadapt_phase_enter(ALSO_LONG);
	}
	for (int i = 0; i < 1000; i++) {
		kadapt_phase_enter(PLAIN);
		kadapt_phase_enter(ALSO_PLAIN);
	}
	return PASSED;
}

int main(int count, char **words)
{
	const struct test_case *const tables[] = {plain_cases, own_cases, child_cases, filter_cases,
						  NULL};

	if (count == 2 && !strcmp(words[1], PHASE_AFTER_EXEC))
		return tell_phase();
	if (count == 2 && !strcmp(words[1], CALM_AFTER_EXEC))
		return enter_calmly();
	default_ns = slice_of(0);
	return run_cases(tables, words + 1);
}
