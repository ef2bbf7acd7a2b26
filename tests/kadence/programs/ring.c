// SPDX-License-Identifier: GPL-2.0-or-later
/* MPI: a sum, a broadcast of 4 MiB, and a hundred small messages round a ring. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static char block[1 << 22];
	int rank, ranks, sum, token = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	block[sizeof(block) - 1] = rank == 0 ? 42 : 0;
	MPI_Bcast(block, sizeof(block), MPI_BYTE, 0, MPI_COMM_WORLD);
	token = rank;
	for (int i = 0; i < 100; i++)
		MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % ranks, 0,
				     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
	token += block[sizeof(block) - 1];
	MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %d\n", ranks, sum);
	return MPI_Finalize();
}
