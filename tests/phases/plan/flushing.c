/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flushing FILE: runs two planted phases, CYCLES times. The first writes RECORDS lines to FILE and
 * flushes it after each line. The second makes STEPS steps of arithmetic. The number printed at the
 * end is right only if every step was.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STANDING
#define STANDING
#endif

#define PRIME 0x100000001b3

STANDING static void put_record(FILE *file, int cycle, int number)
{
	if (fprintf(file, "record %d of cycle %d\n", number, cycle) < 0 || fflush(file))
		exit(EXIT_FAILURE);
}

STANDING static uint64_t calculate(uint64_t state)
{
	for (int step = 0; step < STEPS; step++)
		state = (state ^ state >> 29) * PRIME;
	return state;
}

int main(int count, char **arguments)
{
	FILE *file = count == 2 ? fopen(arguments[1], "w") : NULL;
	uint64_t state = 0xcbf29ce484222325;

	if (!file)
		return EXIT_FAILURE;
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int number = 0; number < RECORDS; number++)
			put_record(file, cycle, number);
		state = calculate(state);
	}
	printf("%016" PRIx64 "\n", state);
	return fclose(file) ? EXIT_FAILURE : EXIT_SUCCESS;
}
