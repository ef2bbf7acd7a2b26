/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spinning WAY: the first thread adds and then multiplies. Meanwhile the second thread, in
 * second(), does as WAY says. p waits by `pause`, u waits without it, l waits for a spin lock, c
 * waits and counts its rounds, b computes and never waits, h computes with a rare `pause`.
 */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

enum { ELEMENTS = 1000, ROUNDS = 3000, SLEEP_MICROSECONDS = 20000 };

static volatile int done;
static uint64_t numbers[ELEMENTS];
static pthread_spinlock_t lock;
static volatile uint64_t result;
static char way;

/* Stores nothing: all that changes is in registers. */
__attribute__((noinline)) static uint64_t adds(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ELEMENTS; i++) {
		sum += numbers[i];
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

__attribute__((noinline)) static uint64_t multiplies(void)
{
	uint64_t product = 1;

	for (int i = 0; i < ELEMENTS; i++) {
		product *= numbers[i] | 1;
		__asm__ volatile("" : "+r"(product));
	}
	return product;
}

static void busy(int pauses)
{
	for (int round = 0; round < ROUNDS; round++) {
		result = adds();
		if (pauses)
			__builtin_ia32_pause();
	}
}

static void *second(void *argument)
{
	uint64_t rounds = 0;

	switch (way) {
	case 'p':
		while (!done)
			__builtin_ia32_pause();
		break;
	case 'u':
		while (!done)
			;
		break;
	case 'c':
		while (!done)
			rounds++;
		result = rounds;
		break;
	case 'l':
		pthread_spin_lock(&lock);
		break;
	default:
		busy(way == 'h');
	}
	return argument;
}

int main(int count, char **arguments)
{
	pthread_t thread;

	way = count > 1 ? arguments[1][0] : 0;
	for (int i = 0; i < ELEMENTS; i++)
		numbers[i] = (uint64_t)i;
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&lock);
	if (pthread_create(&thread, NULL, second, NULL))
		return 1;
	/* Valgrind runs one thread at a time: on a quiet machine this thread, until it sleeps. */
	usleep(SLEEP_MICROSECONDS);
	for (int round = 0; round < ROUNDS; round++)
		result = adds();
	for (int round = 0; round < ROUNDS; round++)
		result = multiplies();
	done = 1;
	pthread_spin_unlock(&lock);
	return pthread_join(thread, NULL);
}
