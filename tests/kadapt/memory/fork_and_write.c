/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parent and child use blocks after fork(), while other threads keep allocating. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blocks_of_many_sizes.h"

#define BYTES ((size_t)3 << 20)
#define FORKS 8

static atomic_int is_over;

static void *allocate_meanwhile(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;

	while (!is_over) {
		size_t size = 200000 + next_number(&state) % 400000;
		unsigned char *block = malloc(size);

		fill(block, size, state);
		check(block, size, state);
		free(block);
	}
	return NULL;
}

static int run_child(unsigned char *block, int number)
{
	unsigned char *own = malloc(BYTES);

	check(block, BYTES, 1);
	fill(block, BYTES, (uint64_t)number);
	fill(own, BYTES, 99);
	free(block);
	block = malloc(BYTES);
	fill(block, BYTES, 7);
	check(own, BYTES, 99);
	free(own);
	free(block);
	return number;
}

static int status_of_child(unsigned char *block, int number)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(run_child(block, number));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	pthread_t threads[2];
	unsigned char *block = malloc(BYTES);

	fill(block, BYTES, 1);
	free(malloc(BYTES));
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, allocate_meanwhile, (void *)(i + 1));
	for (int i = 1; i <= FORKS; i++)
		printf("child %d\n", status_of_child(block, i));
	is_over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(block, BYTES, 1);
	free(block);
	return 0;
}
