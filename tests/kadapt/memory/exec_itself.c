/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes itself three times. Each time a block is still allocated. */
#define _GNU_SOURCE
#include <unistd.h>

#include "blocks_of_many_sizes.h"

#define BYTES ((size_t)2 << 20)

int main(int count, char **arguments)
{
	char lives[] = {(char)(count > 1 ? arguments[1][0] - 1 : '3'), '\0'};
	unsigned char *block = malloc(BYTES);

	free(malloc(BYTES));
	fill(block, BYTES, (uint64_t)lives[0]);
	check(block, BYTES, (uint64_t)lives[0]);
	printf("%s\n", lives);
	fflush(stdout);
	if (lives[0] > '0')
		execl("/proc/self/exe", arguments[0], lives, (char *)NULL);
	free(block);
	return lives[0] - '0';
}
