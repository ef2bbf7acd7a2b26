// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * failed_fork BYTES: forks that run out of memory half-way through the mappings. Under strict
 * overcommitment, the kernel copies the first mapping, then refuses to copy the second, which has
 * BYTES bytes. Prints the errors of ten such forks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FIRST = 64 * PAGE, FORKS = 10 };

static char *mapping(char *address, size_t length)
{
	char *memory = mmap(address, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory != address) {
		perror("mmap");
		exit(1);
	}
	return memory;
}

int main(int argc, char **argv)
{
	char *low = (char *)0x100000000;
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;

	memset(mapping(low, FIRST), 1, FIRST);
	mapping(low + 2 * FIRST, bytes);
	for (int fork_number = 0; fork_number < FORKS; fork_number++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		printf("%d ", child < 0 ? errno : 0);
	}
	printf("\n");
	return 0;
}
