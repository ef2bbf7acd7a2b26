/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that each make a list of blocks. The blocks are so small that malloc serves them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define THREADS 2
#define BLOCKS 40000
#define BLOCK_BYTES 600

struct block {
	struct block *next;
	unsigned char bytes[BLOCK_BYTES];
};

static struct block *lists[THREADS];

static void *work(void *place)
{
	struct block **list = place;

	for (int i = 0; i < BLOCKS; i++) {
		struct block *block = malloc(sizeof(*block));

		memset(block->bytes, i, sizeof(block->bytes));
		block->next = *list;
		*list = block;
	}
	return NULL;
}

static unsigned long sum_of(const struct block *list)
{
	unsigned long sum = 0;

	for (; list; list = list->next)
		sum = sum * 31 + list->bytes[0] + list->bytes[BLOCK_BYTES - 1];
	return sum;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct rusage usage;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &lists[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		printf("%lu\n", sum_of(lists[i]));
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%ld %ld\n", usage.ru_maxrss, usage.ru_minflt);
	return 0;
}
