/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading FILE SIZE: two planted phases, CYCLES times: all records of SIZE bytes that are in FILE
 * are read, one a call, and STEPS steps of arithmetic are made with what they gave. The hash that
 * is printed (FNV-1a) comes of the right bytes in the right order only.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef STANDING
#define STANDING
#endif

#define PRIME 0x100000001b3

STANDING static uint64_t take_records(int file, size_t size, uint64_t hash)
{
	unsigned char record[64];
	ssize_t found;

	while ((found = read(file, record, size)) > 0)
		for (ssize_t byte = 0; byte < found; byte++)
			hash = (hash ^ record[byte]) * PRIME;
	if (found < 0)
		exit(EXIT_FAILURE);
	return hash;
}

STANDING static uint64_t calculate(uint64_t state)
{
	for (int step = 0; step < STEPS; step++)
		state = (state ^ state >> 29) * PRIME;
	return state;
}

int main(int count, char **arguments)
{
	const int file = count == 3 ? open(arguments[1], O_RDONLY) : -1;
	uint64_t hash = 0xcbf29ce484222325;

	if (file < 0)
		return EXIT_FAILURE;
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		if (lseek(file, 0, SEEK_SET))
			return EXIT_FAILURE;
		hash = take_records(file, (size_t)atoi(arguments[2]), hash);
		printf("%016" PRIx64 "\n", hash);
		hash = calculate(hash);
	}
	printf("%016" PRIx64 "\n", hash);
	return EXIT_SUCCESS;
}
