// SPDX-License-Identifier: GPL-2.0-or-later
/* An MPI program whose ranks compute in one phase and add up their results in another. */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define ROUNDS 5

#ifdef ADAPTED
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 2,
    .policy = {{.phase = 0}, {.phase = 1, .quantum_ns = 50000000}},
};
#else
static void kadapt_phase_enter(uint32_t phase)
{
	(void)phase;
}
#endif

int main(int count, char *arguments[])
{
	uint64_t mine, sum = 1;
	int rank, ranks;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int round = 0; round < ROUNDS; round++) {
		kadapt_phase_enter(0);
		mine = sum + (uint64_t)rank;
		for (int i = 0; i < 100000; i++)
			mine = mine * 6364136223846793005 + 1442695040888963407;
		kadapt_phase_enter(1);
		MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%d ranks, sum %" PRIu64 "\n", ranks, sum);
	MPI_Finalize();
	return 0;
}
