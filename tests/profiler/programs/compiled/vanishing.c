/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of which optimisation leaves little, called as often as is said here. */
#include <stdio.h>
#include <stdlib.h>

/* 7 times, and 5 times within another function, where it is no statement of its own. */
static int triple(int number)
{
	return number * 3;
}

/* 5 times. */
static inline __attribute__((always_inline)) int quadruple(int number)
{
	return number + triple(number);
}

/* 1973 times: it changes nothing but itself, until its calls are counted. */
static __attribute__((noinline)) int fibonacci(int number)
{
	return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

int main(void)
{
	long sum = 0;

	for (int number = 0; number < 7; number++)
		sum += triple(rand() % 9);
	for (int number = 0; number < 5; number++)
		sum += quadruple(rand() % 9);
	printf("%ld\n", sum + fibonacci(15));
	return 0;
}
