/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that allocate and resize at the same time, and free one another's blocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "blocks_of_many_sizes.h"

#define THREADS 4
#define ROUNDS 150
#define SLOTS 8

struct item {
	size_t size;
	uint64_t seed;
	unsigned char bytes[];
};

static _Atomic(struct item *) slots[SLOTS];
static atomic_ulong exchanged;

static struct item *make(uint64_t *state)
{
	size_t size = 100000 + next_number(state) % 900000;
	struct item *item = malloc(sizeof(*item) + size);

	if (next_number(state) % 2)
		item = realloc(item, sizeof(*item) + (size += 150000));
	item->size = size;
	item->seed = next_number(state);
	fill(item->bytes, size, item->seed);
	return item;
}

static void take_apart(struct item *item)
{
	if (!item)
		return;
	check(item->bytes, item->size, item->seed);
	exchanged++;
	free(item);
}

static void *work(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;

	for (int round = 0; round < ROUNDS; round++)
		take_apart(atomic_exchange(&slots[next_number(&state) % SLOTS], make(&state)));
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		take_apart(slots[i]);
	printf("%lu\n", (unsigned long)exchanged);
	return 0;
}
