// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ranks VISITS PERCENT: ranks that wait for one another after each visit. At the tried
 * policy's level a visit computes PERCENT longer.
 */
#include <mpi.h>
#include <stdlib.h>

#include "libkadapt.h"
#include "base/levels.h"
#include "planted/visits.h"

#define STEPS 6000000

PLAN(KADAPT_TRY_BATCHES, 0, KADAPT_PLAN_IO)

static uint32_t more; /* steps of a visit at the level */
static volatile uint64_t wasted;

static uint64_t visit(uint32_t number)
{
	uint64_t sum = compute(number, STEPS);

	kadapt_batches_written++; /* or the policy would count as idle */
	if (is_at_level(KADAPT_TRIED_BATCHES))
		wasted = compute(sum, more);
	MPI_Barrier(MPI_COMM_WORLD);
	return sum;
}

int main(int count, char **words)
{
	MPI_Init(&count, &words);
	if (count != 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	more = (uint32_t)(STEPS / 100 * strtoul(words[2], NULL, 10));
	make_visits((uint32_t)strtoul(words[1], NULL, 10), KADAPT_TRIED_BATCHES, visit);
	MPI_Finalize();
	return 0;
}
