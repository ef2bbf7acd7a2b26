/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rank r calls step() 1000 (r + 1) times; rank 0 adds up the results. */
#include <mpi.h>
#include <stdio.h>

static __attribute__((noinline)) long step(long number)
{
	return number % 7 ? number : -number;
}

int main(int argc, char **argv)
{
	long sum = 0, total = 0;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long number = 0; number < 1000 * (rank + 1); number++)
		sum += step(number);
	MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%ld\n", total);
	return MPI_Finalize();
}
