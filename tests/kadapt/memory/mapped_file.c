/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps and reads a file, tries mappings that fail, maps fresh memory. Argument: the file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blocks_of_many_sizes.h"

#define BYTES ((size_t)3 << 20)

static unsigned long sum_of(const unsigned char *bytes, size_t size)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += bytes[i] * (i % 7);
	return sum;
}

static void write_file(const char *name)
{
	unsigned char *bytes = malloc(BYTES);
	int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	fill(bytes, BYTES, 9);
	if (write(file, bytes, BYTES) != (ssize_t)BYTES)
		exit(1);
	close(file);
	free(bytes);
}

/* Maps more than the file has. A program that knows the file's size may do so. */
static void read_file(const char *name)
{
	int file = open(name, O_RDONLY);
	void *bytes = mmap(NULL, 2 * BYTES, PROT_READ, MAP_PRIVATE, file, 0);

	errno = 0;
	printf("%lu %d\n", sum_of(bytes, BYTES), errno);
	munmap(bytes, 2 * BYTES);
	printf("%d", mmap(NULL, 0, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED);
	printf(" %d\n", errno);
	errno = 0;
	printf("%d", mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED);
	printf(" %d\n", errno);
	close(file);
}

static void map_and_unmap(void)
{
	unsigned long sum = 0;

	for (int round = 0; round < 20; round++) {
		unsigned char *bytes =
		    mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		sum += sum_of(bytes, BYTES);
		fill(bytes, BYTES, (uint64_t)round);
		sum += sum_of(bytes, BYTES);
		munmap(bytes, BYTES);
	}
	printf("%lu\n", sum);
}

int main(int count, char **arguments)
{
	if (count < 2)
		return 2;
	write_file(arguments[1]);
	read_file(arguments[1]);
	map_and_unmap();
	return unlink(arguments[1]);
}
