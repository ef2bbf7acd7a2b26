// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mix SEED COUNT: does COUNT operations, chosen by SEED, on files in MIX_FOLDER or /tmp.
 * It prints what each operation returned and, at the end, a checksum of each file. Built
 * plain, with ADAPTED or with INTERPOSED, it must print the same. With ADAPTED its calls
 * are redirected; with INTERPOSED they reach libkadapt as those of shared libraries do.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mix.h"

#if defined(ADAPTED) || defined(INTERPOSED)
#include "libkadapt.h"

#ifdef INTERPOSED
#define PLAN_FLAGS (KADAPT_PLAN_IO | KADAPT_PLAN_STREAMS)
const int *const anchor __attribute__((used)) = &kadapt_io_anchor;
#else
#define PLAN_FLAGS KADAPT_PLAN_IO
#endif

const struct kadapt_plan kadapt_plan = {.abi = KADAPT_PLAN_ABI, .flags = PLAN_FLAGS};
#endif

static uint64_t state;

uint32_t any(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % below;
}

const char *bytes(size_t size)
{
	static char text[BYTES_MAX];

	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + (i + state) % 26);
	return text;
}

uint64_t hash(uint64_t before, const void *from, size_t size)
{
	const unsigned char *text = from;

	for (size_t i = 0; i < size; i++)
		before = (before ^ text[i]) * 1099511628211ULL;
	return before;
}

void yield(void)
{
	sched_yield();
	usleep(any(3000));
}

void tell(const char *what, long value)
{
	printf("%s %ld\n", what, value);
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	state = strtoull(arguments[1], NULL, 10);
	/* Line by line, or a child would print its parent's buffered lines again. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	return mix_file(atoi(arguments[2]));
}
