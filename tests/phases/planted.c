/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs three planted phases, CYCLES times: STEPS calls of relax(), one of checkpoint(), one of
 * exchange(). Each function is called from one place, so that GCC inlines it at -O2 unless
 * STANDING forbids that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef STANDING
#define STANDING
#endif

enum { SIDE = 500 };

static double plate[2][SIDE * SIDE];

STANDING static void relax(int from)
{
	for (int row = 1; row < SIDE - 1; row++) {
		const double *here = plate[from] + row * SIDE;
		double *next = plate[!from] + row * SIDE;

		for (int column = 1; column < SIDE - 1; column++)
			next[column] =
			    here[column] +
			    0.2 * (here[column - SIDE] + here[column + SIDE] + here[column - 1] +
				   here[column + 1] - 4.0 * here[column]);
	}
}

STANDING static void checkpoint(int file)
{
	char record[64];

	for (int number = 0; number < RECORDS; number++) {
		int length =
		    snprintf(record, sizeof(record), "%d %.17g\n", number, plate[0][number]);

		if (write(file, record, (size_t)length) != length)
			exit(EXIT_FAILURE);
	}
}

STANDING static void exchange(const int pair[2])
{
	char message[64] = {0};

	for (int number = 0; number < MESSAGES; number++) {
		for (size_t byte = 0; byte < sizeof(message); byte++)
			message[byte] = (char)((message[byte] ^ (int)byte) * 7 + number);
		if (send(pair[0], message, sizeof(message), 0) != sizeof(message) ||
		    recv(pair[1], message, sizeof(message), MSG_WAITALL) != sizeof(message))
			exit(EXIT_FAILURE);
	}
}

int main(void)
{
	int file = open("records", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int pair[2];

	if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return EXIT_FAILURE;
	plate[0][SIDE * SIDE / 2 + SIDE / 2] = 1000.0;
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int step = 0; step < STEPS; step++)
			relax(step & 1);
		checkpoint(file);
		exchange(pair);
	}
	return EXIT_SUCCESS;
}
