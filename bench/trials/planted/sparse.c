// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sparse VISITS: each visit takes an array, touches one page in 512 of it, computes and
 * frees it. In huge pages each touch clears 2 MiB.
 *
 * Prints a sum, which is the same with huge pages, and on standard error how many visits
 * were at the policy's level. With -DPLAIN the C library serves the array.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "planted/visits.h"

#define ARRAY_BYTES (24 << 20)
#define STRIDE (512 * 4096)
#define COMPUTE_STEPS 1500000

PLAN(KADAPT_TRY_MEMORY, 0, KADAPT_PLAN_MEMORY)

static volatile unsigned char *take(void)
{
#ifdef PLAIN
	return malloc(ARRAY_BYTES);
#else
	return kadapt_malloc(ARRAY_BYTES, KADAPT_TREAT_HUGE);
#endif
}

static uint64_t visit(uint32_t number)
{
	volatile unsigned char *array = take();
	uint64_t sum = 0;

	if (!array)
		exit(1);
	for (size_t i = 0; i < ARRAY_BYTES; i += STRIDE)
		array[i] = (unsigned char)number;
	sum = compute(number, COMPUTE_STEPS);
	for (size_t i = 0; i < ARRAY_BYTES; i += STRIDE)
		sum += array[i];
	free((void *)array);
	return sum;
}

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	make_visits((uint32_t)strtoul(words[1], NULL, 10), KADAPT_TRIED_MEMORY, visit);
	return 0;
}
